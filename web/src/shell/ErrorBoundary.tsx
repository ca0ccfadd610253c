import { Component, type ReactNode } from "react";

import { Problem } from "../api/problem";
import { Button } from "../ui/Button";
import { Failed } from "../ui/States";

/** Whether a part of the page could not be loaded: most often because the hub has a newer page, without that file. */
export function isGonePart(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|Importing a module script failed|Unable to preload CSS|module script/i.test(error.message)
  );
}

/** What is shown instead of something that failed. */
export function Broken({ error, retry }: { error: unknown; retry?: () => void }) {
  // A refusal of the hub is nothing that a reload mends.
  if (error instanceof Problem) return <Failed error={error} retry={retry} />;
  return (
    <div role="alert" className="mx-auto flex max-w-md flex-col items-center gap-3 p-12 text-center">
      <h1 className="text-lg font-semibold">{isGonePart(error) ? "Could not load this part of the page" : "Something went wrong"}</h1>
      <p className="text-muted">
        {isGonePart(error)
          ? "The hub cannot be reached, or a new version is available. Retry, or reload (drafts are kept)."
          : `Reload; drafts are kept. (${error instanceof Error ? error.message : String(error)})`}
      </p>
      <div className="flex gap-2">
        {retry ? (
          <Button look="filled" onClick={retry}>
            Retry
          </Button>
        ) : null}
        <Button look={retry ? "outlined" : "filled"} onClick={() => location.reload()}>
          Reload
        </Button>
      </div>
    </div>
  );
}

/** The last resort, around everything. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown; hasFailed: boolean }> {
  override state = { error: null as unknown, hasFailed: false };

  static getDerivedStateFromError(error: unknown) {
    return { error, hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? <Broken error={this.state.error} /> : this.props.children;
  }
}
