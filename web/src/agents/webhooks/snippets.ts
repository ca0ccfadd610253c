import javascript from "../../../../docs/examples/verify-webhook/verify.mjs?raw";
import python from "../../../../docs/examples/verify-webhook/verify.py?raw";
import rust from "../../../../docs/examples/verify-webhook/verify.rs?raw";

/** How a receiver verifies a delivery. These are the files that the documentation shows and that are tested. */
export const SNIPPETS = [
  { name: "javascript", label: "JavaScript", file: "verify.mjs", text: javascript, library: "The npm package standardwebhooks does the same." },
  { name: "python", label: "Python", file: "verify.py", text: python, library: "The PyPI package standardwebhooks does the same." },
  { name: "rust", label: "Rust", file: "verify.rs", text: rust, library: "Uses the crates base64, hmac and sha2." },
] as const;

export type SnippetName = (typeof SNIPPETS)[number]["name"];
