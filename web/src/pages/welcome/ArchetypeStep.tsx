import { ARCHETYPES } from "../../agents/archetypes";
import type { Archetype } from "../../api/newAgent";
import { StepButtons } from "./StepButtons";
import { StepLead } from "./StepLead";

interface ArchetypeStepProps {
  name: string;
  archetype: Archetype;
  setArchetype: (archetype: Archetype) => void;
  onBack: () => void;
}

/** Chooses what the agent is for. */
export function ArchetypeStep({ name, archetype, setArchetype, onBack }: ArchetypeStepProps) {
  return (
    <>
      <StepLead title={`What does ${name} do?`}>
        Pick the closest match. This is only a label; it does not change permissions.
      </StepLead>
      <fieldset className="grid gap-2 sm:grid-cols-2">
        <legend className="sr-only">Type of agent</legend>
        {ARCHETYPES.map((one) => (
          <label
            key={one.name}
            className="flex cursor-pointer items-start gap-3 rounded-lg border border-line p-3 hover:bg-panel has-checked:border-accent has-checked:bg-selected"
          >
            <input
              type="radio"
              name="archetype"
              className="mt-0.5"
              checked={archetype === one.name}
              autoFocus={archetype === one.name}
              onChange={() => setArchetype(one.name)}
            />
            <span>
              <span className="block font-medium">{one.label}</span>
              <span className="block text-muted">{one.about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <StepButtons onBack={onBack} next="Continue" />
    </>
  );
}
