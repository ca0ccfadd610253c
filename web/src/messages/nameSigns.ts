import { describeRun } from "../lib/characterNames";

/** Gives the marks of hidden characters in a text their names. */
export function nameSigns(box: Element): void {
  for (const sign of box.querySelectorAll<HTMLElement>(".sign[data-run]")) {
    const codes = (sign.dataset["run"] ?? "").split(" ").map((code) => Number.parseInt(code, 16));
    sign.title = describeRun(String.fromCodePoint(...codes));
  }
}
