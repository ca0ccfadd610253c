/** A kind of words in code that has a colour. */
export type CodeKind = "keyword" | "string" | "number" | "comment" | "removed";

export interface CodePart {
  text: string;
  kind?: CodeKind;
}

/** What the page knows of a group of languages that look alike. */
interface Syntax {
  lineComments: readonly string[];
  blockComments: readonly (readonly [string, string])[];
  /** A longer one comes before a shorter one that it begins with. */
  quotes: readonly string[];
  keywords: ReadonlySet<string>;
  ignoresCase?: boolean;
}

const words = (text: string) => new Set(text.split(" "));
const SLASH_STAR = [["/*", "*/"]] as const;

const C_LIKE: Syntax = {
  lineComments: ["//"],
  blockComments: SLASH_STAR,
  quotes: ['"', "`", "'"],
  keywords: words(
    "abstract as async await bool boolean break byte case catch char class const continue crate def default defer delete do double dyn else enum export extends extern false final finally float fn for from func function go goto if impl implements import in instanceof int interface internal is let long loop map match mod module mut namespace new nil null object of override package private protected pub public readonly ref return select self short static str string struct super switch this throw throws trait true try type typeof undefined union unsafe use val var virtual void volatile when where while with yield",
  ),
};
const RUST: Syntax = { ...C_LIKE, quotes: ['"'] };
const SCRIPT: Syntax = {
  lineComments: ["#"],
  blockComments: [],
  quotes: ['"""', "'''", '"', "'"],
  keywords: words(
    "and as assert async await begin break case class continue def del do done echo elif else end ensure esac except exit export false False fi finally for from function global if import in is lambda local module nil None nonlocal not null or pass raise rescue return self set then true True try unless until when while with yes no yield FROM RUN COPY CMD ENTRYPOINT ENV ARG WORKDIR EXPOSE",
  ),
};
const SQL: Syntax = {
  lineComments: ["--"],
  blockComments: SLASH_STAR,
  quotes: ["'", '"'],
  keywords: words(
    "add all alter and as asc begin between by case check column commit constraint create cross current default delete desc distinct do drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer over partition primary references returning right rollback select set table then transaction true union unique update using values view when where with",
  ),
  ignoresCase: true,
};
const MARKUP: Syntax = { lineComments: [], blockComments: [["<!--", "-->"]], quotes: ['"'], keywords: new Set() };
const STYLES: Syntax = { ...C_LIKE, lineComments: [], quotes: ['"', "'"], keywords: new Set() };

const LANGUAGES = new Map<string, Syntax>();
function register(syntax: Syntax, names: string): void {
  for (const name of names.split(" ")) LANGUAGES.set(name, syntax);
}
register(C_LIKE, "js jsx ts tsx javascript typescript json json5 jsonc java kotlin kt go golang c h cpp c++ cc cs c# csharp swift php scala dart groovy proto");
register(RUST, "rust rs");
register(SCRIPT, "py python rb ruby sh bash zsh shell console yaml yml toml ini conf dockerfile docker make makefile perl r elixir");
register(SQL, "sql postgres postgresql sqlite mysql");
register(MARKUP, "html xml svg vue svelte");
register(STYLES, "css scss less");

const isDigit = (char: string | undefined) => char !== undefined && char >= "0" && char <= "9";
const isWord = (char: string | undefined) =>
  char !== undefined && ((char >= "a" && char <= "z") || (char >= "A" && char <= "Z") || isDigit(char) || char === "_" || char === "$");

/** Where a string ends that begins at `start`. A string without an end takes the rest of its line, or of the code if it may have lines. */
function endOfString(code: string, start: number, quote: string): number {
  const hasLines = quote.length > 1 || quote === "`";
  let at = start + quote.length;
  while (at < code.length) {
    if (code[at] === "\\") at += 2;
    else if (code.startsWith(quote, at)) return at + quote.length;
    else if (code[at] === "\n" && !hasLines) return at;
    else at += 1;
  }
  return code.length;
}

/** Where the comment ends that begins at `start`, or undefined if none begins there. */
function endOfComment(code: string, start: number, syntax: Syntax): number | undefined {
  for (const [open, close] of syntax.blockComments) {
    if (!code.startsWith(open, start)) continue;
    const end = code.indexOf(close, start + open.length);
    return end < 0 ? code.length : end + close.length;
  }
  // `a#b` and `https://` are no comments.
  const before = code[start - 1];
  if (isWord(before) || before === ":") return undefined;
  if (!syntax.lineComments.some((mark) => code.startsWith(mark, start))) return undefined;
  const end = code.indexOf("\n", start);
  return end < 0 ? code.length : end;
}

/** Code in parts by their kind, or undefined if the page does not know the language. Each character is read once. */
export function codeParts(code: string, language: string): CodePart[] | undefined {
  const name = language.toLowerCase();
  if (name === "diff" || name === "patch") return diffParts(code);
  const syntax = LANGUAGES.get(name);
  if (!syntax) return undefined;
  const parts: CodePart[] = [];
  let plainFrom = 0;
  let at = 0;
  const add = (end: number, kind: CodeKind) => {
    if (plainFrom < at) parts.push({ text: code.slice(plainFrom, at) });
    parts.push({ text: code.slice(at, end), kind });
    plainFrom = at = end;
  };
  while (at < code.length) {
    const comment = endOfComment(code, at, syntax);
    if (comment !== undefined) {
      add(comment, "comment");
      continue;
    }
    const quote = syntax.quotes.find((one) => code.startsWith(one, at));
    if (quote && !isWord(code[at - 1])) {
      add(Math.min(code.length, endOfString(code, at, quote)), "string");
      continue;
    }
    if (!isWord(code[at])) {
      at += 1;
      continue;
    }
    let end = at + 1;
    while (isWord(code[end]) || (isDigit(code[at]) && code[end] === "." && isDigit(code[end + 1]))) end += 1;
    const word = code.slice(at, end);
    if (isDigit(word[0])) add(end, "number");
    else if (syntax.keywords.has(syntax.ignoresCase ? word.toLowerCase() : word)) add(end, "keyword");
    else at = end;
  }
  if (plainFrom < code.length) parts.push({ text: code.slice(plainFrom) });
  return parts;
}

/** In a comparison, each line is of one kind. */
function diffParts(code: string): CodePart[] {
  return code.split(/(?<=\n)/).map((text) => {
    if (text.startsWith("+")) return { text, kind: "string" };
    if (text.startsWith("-")) return { text, kind: "removed" };
    return text.startsWith("@") ? { text, kind: "number" } : { text };
  });
}
