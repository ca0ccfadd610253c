import type { HookKind } from "../../api/hooks";
import { Shown } from "../../ui/Shown";
import { SAMPLES, previewOf } from "./template";

/** The message that a template makes of an example request. */
export function TemplatePreview({ kind, template }: { kind: HookKind; template: string }) {
  const preview = template.trim() ? previewOf(template, kind) : { pieces: [{ kind: "text" as const, text: SAMPLES[kind].message }] };
  const missing = "pieces" in preview ? preview.pieces.filter((piece) => piece.kind === "missing").map(({ text }) => text) : [];
  return (
    <figure aria-label="Preview" className="min-w-0 rounded-md border border-line bg-panel">
      <figcaption className="border-b border-line px-3 py-1 text-sm text-muted">
        {template.trim() ? "Message for an example request" : "Default message for an example request"}
      </figcaption>
      {"fault" in preview ? (
        <p className="px-3 py-2 text-rejected">{preview.fault}</p>
      ) : (
        <p className="max-h-40 overflow-y-auto px-3 py-2 break-words whitespace-pre-wrap" tabIndex={0}>
          {preview.pieces.map((piece, at) =>
            piece.kind === "text" ? (
              <Shown key={at} text={piece.text} />
            ) : piece.kind === "value" ? (
              <span key={at} className="rounded-sm bg-selected px-0.5">
                <Shown text={piece.text} />
              </span>
            ) : null,
          )}
        </p>
      )}
      {missing.length ? (
        <p className="border-t border-line px-3 py-1 text-sm break-words text-muted">The example has no value for {missing.join(", ")}.</p>
      ) : null}
    </figure>
  );
}
