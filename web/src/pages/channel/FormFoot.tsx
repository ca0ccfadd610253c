import { Problem } from "../../api/problem";
import { Button } from "../../ui/Button";
import { FormError } from "../../ui/TextField";
import { SaveConflict } from "../../ui/SaveConflict";
import { type ChannelEdits, type FormPart, isConflict } from "./useChannelForm";

/** The errors of a form and the buttons that save or discard its changes. */
export function FormFoot({ edits, part, isManager, isFaulty = false }: {
  edits: ChannelEdits;
  part: FormPart;
  isManager: boolean;
  isFaulty?: boolean;
}) {
  const { error } = part;
  if (isConflict(error)) {
    return (
      <SaveConflict
        // The hub's hint is for programs; here the two buttons replace it.
        sentence={error instanceof Problem ? error.message : ""}
        changes={edits.theirs}
        takeTheirs={edits.takeTheirs}
        saveMine={() => edits.saveOverTheirs(part)}
      />
    );
  }
  return (
    <>
      <FormError error={error} shown={part.all} />
      {isManager ? (
        <div className="flex gap-2">
          <Button type="submit" size="form" look="filled" disabled={part.fields.length === 0 || isFaulty || edits.isSaving}>
            Save
          </Button>
          {part.fields.length ? (
            <Button size="form" onClick={() => edits.discard(part)}>
              Discard
            </Button>
          ) : null}
        </div>
      ) : null}
    </>
  );
}
