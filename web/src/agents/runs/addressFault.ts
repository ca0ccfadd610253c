import { fieldError } from "../../ui/TextField";

/** What the hub says about the address of an agent that runs elsewhere. A missing one needs no name of a backend. */
export function addressFault(error: unknown): string | undefined {
  const said = fieldError(error, "harness.url");
  return said?.startsWith("Is required") ? "Enter an address." : said;
}
