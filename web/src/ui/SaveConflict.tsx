import { Button } from "./Button";

/** Says what somebody else has changed, and asks which changes to keep. */
export function SaveConflict({ sentence, changes, takeTheirs, saveMine }: {
  sentence: string;
  changes: string[];
  takeTheirs: () => void;
  saveMine: () => void;
}) {
  return (
    <div role="alert" className="flex flex-col gap-3 rounded-md border border-amber p-3">
      <p className="text-amber">{sentence}</p>
      {changes.length ? (
        <ul className="list-disc pl-5">
          {changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button onClick={takeTheirs}>Discard my changes</Button>
        <Button onClick={saveMine}>Overwrite</Button>
      </div>
    </div>
  );
}
