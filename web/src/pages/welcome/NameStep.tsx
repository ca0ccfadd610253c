import { NAME_PATTERN, NAME_RULE } from "../../agents/archetypes";
import { toName } from "../../agents/welcome";
import { FormError, TextField, fieldError } from "../../ui/TextField";
import { OwnAgents } from "./OwnAgents";
import { StepButtons } from "./StepButtons";
import { StepLead } from "./StepLead";

interface NameStepProps {
  name: string;
  setName: (name: string) => void;
  displayName: string;
  setDisplayName: (name: string) => void;
  error: unknown;
  isBusy: boolean;
  /** A new name makes the errors about the previous one obsolete. */
  forgetErrors: () => void;
}

/** Chooses the name of the agent. */
export function NameStep({ name, setName, displayName, setDisplayName, error, isBusy, forgetErrors }: NameStepProps) {
  return (
    <>
      <StepLead title="Name your agent">
        An agent is an identity for a client such as Claude Code: it reads and posts messages under its own name. You own it and are responsible for what it does. Nothing is created until step 3.
      </StepLead>
      <OwnAgents />
      <TextField
        label="Name"
        hint={NAME_RULE}
        error={fieldError(error, "name")}
        value={name}
        onChange={(text) => {
          forgetErrors();
          setName(text);
        }}
        onBlur={() => setName(toName(name))}
        autoFocus
        required
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        pattern={NAME_PATTERN}
        title={NAME_RULE}
        placeholder="scout"
      />
      <TextField
        label="Display name"
        hint="Optional. Shown to people; you can change it later."
        value={displayName}
        onChange={setDisplayName}
        maxLength={100}
        autoComplete="off"
        placeholder="Scout"
      />
      <FormError error={error} shown={["name"]} />
      <StepButtons isBusy={isBusy} next="Continue" />
    </>
  );
}
