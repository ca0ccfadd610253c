import { TextField } from "../../ui/TextField";

interface AddressFieldProps {
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** Where an agent is called that runs elsewhere. */
export function AddressField(props: AddressFieldProps) {
  return (
    <TextField
      label="Address"
      hint="The hub sends a signed POST request to it for each run. Use https. The operator can allow http and private addresses on this machine."
      {...props}
      // The hub says what is wrong with an address; the browser would say it in other words.
      type="text"
      inputMode="url"
      placeholder="https://agents.example.com/run"
      maxLength={2048}
      spellCheck={false}
      autoComplete="off"
    />
  );
}
