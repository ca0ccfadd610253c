import { bytes } from "../lib/bytes";
import { Button } from "./Button";
import { type Whole, whole } from "./whole";

/** Opens all of a text whose beginning is shown. */
export function ShowAll(shown: Whole) {
  return (
    <Button
      size="row"
      className="my-1"
      onClick={(event) => {
        event.stopPropagation();
        whole.set(shown);
      }}
    >
      Show all, {bytes(shown.text.length)}
    </Button>
  );
}
