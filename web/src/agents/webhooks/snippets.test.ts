import { expect, test } from "vitest";

import docs from "../../../../docs/webhooks.md?raw";
import { SNIPPETS } from "./snippets";

test("the page shows the code of the documentation", () => {
  const blocks = [...docs.matchAll(/^```\w*\n([^]*?)\n```$/gm)].map((match) => match[1]);
  for (const { label, text } of SNIPPETS) expect(blocks, label).toContain(text);
});
