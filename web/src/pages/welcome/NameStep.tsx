import { NAME_PATTERN, NAME_RULE } from "../../agents/archetypes";
import { toName } from "../../agents/welcome";
import { FormError, TextField } from "../../ui/TextField";
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
      <StepLead title="What is your agent called?">
        An agent is a program, such as Claude Code or one that you wrote, that reads and writes messages here under its own name. It
        belongs to you, and you answer for what it does. Choose a name; nothing is made before the third step.
      </StepLead>
      <OwnAgents />
      <TextField
        label="Name"
        hint={NAME_RULE}
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
        hint="How people see it. Optional, and you can change it later."
        value={displayName}
        onChange={setDisplayName}
        maxLength={100}
        autoComplete="off"
        placeholder="Scout"
      />
      <FormError error={error} />
      <StepButtons isBusy={isBusy} next="Continue" />
    </>
  );
}
