import ts from "typescript";
import { expect, test } from "vitest";

import list from "../../tests/words/refused-phrases.txt?raw";

const sources = import.meta.glob<string>(["./**/*.{ts,tsx}", "!./**/*.test.{ts,tsx}", "!./api/schema.d.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const templates = import.meta.glob<string>(["../../templates/*.html", "../index.html"], { query: "?raw", import: "default", eager: true });

/** On the page an agent is the identity, and the software that acts as it is a client; runs start a command. */
const ONLY_HERE = ["program => client, command", "programs => clients, commands"];

const REFUSED = [...list.split("\n").filter((line) => line && !line.startsWith("#")), ...ONLY_HERE].map((line) => {
  const [phrase, better] = line.split(" => ") as [string, string];
  return { phrase, better, pattern: new RegExp(`(?<![\\w-])${phrase.replaceAll(" ", "\\s+")}(?![\\w-])`, "i") };
});
/** Parsing takes long, so only files that have such a phrase anywhere are parsed. */
const ANY = new RegExp(REFUSED.map(({ pattern }) => pattern.source).join("|"), "i");

interface Words {
  line: number;
  text: string;
}

/** The names of attributes whose values nobody reads. */
const UNREAD = new Set(["className", "key", "to", "href", "id", "type", "role", "name", "htmlFor", "autoComplete", "d"]);

/** The strings and the JSX texts of a file, without types, imports and attributes that nobody reads. */
function wordsOf(path: string, source: string): Words[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const found: Words[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isJsxAttribute(node) && UNREAD.has(node.name.getText(file))) return;
    if (ts.isJsxText(node) || ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) {
      // Nobody reads the paths of the API here.
      if (node.text.trim() && !node.text.startsWith("/api/")) found.push({ line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, text: node.text.replace(/\s+/g, " ").trim() });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** The text of a template, line by line, without tags and comments. */
function wordsOfHtml(source: string): Words[] {
  const text = source.replace(/\{#[^]*?#\}|<[^>]*>/g, (tag) => tag.replace(/[^\n]/g, " "));
  return text.split("\n").map((line, at) => ({ line: at + 1, text: line.trim() }));
}

function faultsOf(path: string, words: readonly Words[]): string[] {
  return words.flatMap(({ line, text }) =>
    REFUSED.filter(({ pattern }) => pattern.test(text)).map(({ phrase, better }) => `${path}:${line}: “${phrase}”, better: ${better}. In: ${text}`),
  );
}

test("texts of the page use plain words", () => {
  expect(Object.keys(sources).length).toBeGreaterThan(100);
  expect(Object.entries(sources).flatMap(([path, source]) => (ANY.test(source) ? faultsOf(path, wordsOf(path, source)) : []))).toEqual([]);
});

test("templates use plain words", () => {
  expect(Object.keys(templates).length).toBeGreaterThan(3);
  expect(Object.entries(templates).flatMap(([path, source]) => faultsOf(path, wordsOfHtml(source)))).toEqual([]);
});

test("a refused phrase is found in strings and JSX, and not in comments, names or types", () => {
  const source = [
    "// whoever reads this",
    'type Who = "whoever";',
    'const said = `Ask ${whoever} or whoever runs it`;',
    'const page = <p className="whoever" title="whoever">Not any\n  more</p>;',
  ].join("\n");
  expect(faultsOf("x.tsx", wordsOf("x.tsx", source)).map((fault) => fault.split(",")[0])).toEqual([
    "x.tsx:3: “whoever”",
    "x.tsx:4: “whoever”",
    "x.tsx:4: “any more”",
  ]);
});
