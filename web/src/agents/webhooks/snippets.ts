import javascript from "./snippets/javascript.js?raw";
import python from "./snippets/python.py?raw";

/** How a receiver verifies a delivery. The texts are those of docs/webhooks.md. */
export const SNIPPETS = [
  { name: "javascript", label: "JavaScript", text: javascript.trimEnd() },
  { name: "python", label: "Python", text: python.trimEnd() },
] as const;

export type SnippetName = (typeof SNIPPETS)[number]["name"];
