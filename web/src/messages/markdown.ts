import DOMPurify from "dompurify";
import MarkdownIt, { type Token } from "markdown-it";

import { labelOf, runsOf } from "../lib/hidden";
import { urlOf } from "../lib/url";
import { realTarget } from "./links";
import { hasUndrawnBlocks, hasUndrawnTarget, languageOf } from "./undrawn";

/** HTML in a text is text: `Vec<T>` stays what it is. */
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, typographer: false });

/** A text that would become more elements than this is shown as it was written. */
export const MOST_NODES = 2000;
/** Of a text that somebody wants to see formatted all the same, so many elements are drawn. */
export const MOST_NODES_ASKED = 8000;

/** Thrown by the parser at the first token that is too many, for a table of 1.5 kB can become 65,536 cells. */
const TOO_MANY = new Error("too many tokens");

function count(env: Env): void {
  env.tokens = (env.tokens ?? 0) + 1;
  if (env.tokens > env.most) throw TOO_MANY;
}

markdown.block.State = class extends markdown.block.State {
  override push(...token: Parameters<InstanceType<typeof markdown.block.State>["push"]>): Token {
    count(this.env as Env);
    return super.push(...token);
  }
};
markdown.inline.State = class extends markdown.inline.State {
  override push(...token: Parameters<InstanceType<typeof markdown.inline.State>["push"]>): Token {
    count(this.env as Env);
    return super.push(...token);
  }
};

/** Runs a part of the parser. Where it stops because of the limit, what it has opened is closed, so that the beginning can be drawn. */
function limited(env: Env, tokens: Token[], parse: () => void): void {
  try {
    parse();
  } catch (error) {
    if (error !== TOO_MANY) throw error;
    env.isOver = true;
    const open: Token[] = [];
    for (const token of tokens) {
      if (token.nesting > 0) open.push(token);
      if (token.nesting < 0) open.pop();
    }
    for (const { type, tag } of open.reverse()) {
      const close = new (tokens[0]!.constructor as typeof Token)(type.replace("_open", "_close"), tag, -1);
      tokens.push(close);
    }
  }
}

markdown.core.ruler.at("block", ({ src, md, env, tokens }) => limited(env as Env, tokens, () => md.block.parse(src, md, env, tokens)));
markdown.core.ruler.at("inline", ({ md, env, tokens }) => {
  for (const token of tokens) {
    if (token.type !== "inline") continue;
    const children: Token[] = [];
    token.children = children;
    if ((env as Env).tokens! < (env as Env).most) limited(env as Env, children, () => md.inline.parse(token.content, md, env, children));
  }
});

// `@name` outside code and links. The same shape as the hub looks for.
markdown.inline.ruler.before("emphasis", "mention", (state, silent) => {
  if (state.src[state.pos] !== "@") return false;
  const before = state.pos > 0 ? state.src[state.pos - 1]! : " ";
  if (/[\p{L}\p{N}_@./-]/u.test(before)) return false;
  const match = /^@([A-Za-z0-9][A-Za-z0-9_-]{1,63})/.exec(state.src.slice(state.pos, state.pos + 66));
  if (!match) return false;
  if (!silent) {
    const token = state.push("mention", "", 0);
    token.content = match[1]!;
    // A link cannot hold another one.
    token.info = state.linkLevel > 0 ? "in link" : "";
  }
  state.pos += match[0].length;
  return true;
});
markdown.renderer.rules["mention"] = (tokens, at, _options, env) => {
  const name = tokens[at]!.content;
  const me = (env as { me?: string } | undefined)?.me;
  const isAll = name === "channel" || name === "here";
  const look = `class="mention${isAll || name.toLowerCase() === me?.toLowerCase() ? " mention-me" : ""}"`;
  return isAll || tokens[at]!.info ? `<span ${look}>@${name}</span>` : `<a ${look} href="/people/${name}">@${name}</a>`;
};

/** The names of channels in a text, as they may be written there. */
const CHANNEL = "(?<![\\p{L}\\p{N}_#@&./?=:%~+;-])#([a-z0-9][a-z0-9_-]{0,63})(?![\\p{L}\\p{N}_-])";
const CHANNELS = new RegExp(CHANNEL, "gu");
const CHANNEL_HERE = new RegExp(CHANNEL, "uy");

/** Which of the channels a text speaks of, in the order of the text. */
export function channelsIn(text: string, all: ReadonlySet<string>): string[] {
  return [...new Set([...text.matchAll(CHANNELS)].map((match) => match[1]!))].filter((name) => all.has(name));
}

// `#channel` outside code and links, where there is such a channel.
markdown.inline.ruler.before("emphasis", "channel", (state, silent) => {
  if (state.src[state.pos] !== "#" || state.linkLevel > 0) return false;
  CHANNEL_HERE.lastIndex = state.pos;
  const match = CHANNEL_HERE.exec(state.src);
  const { channels } = state.env as unknown as Env;
  if (!match || !channels.has(match[1]!)) return false;
  if (!silent) {
    const token = state.push("channel", "", 0);
    token.content = match[1]!;
  }
  state.pos += match[0].length;
  return true;
});
markdown.renderer.rules["channel"] = (tokens, at) => {
  const name = tokens[at]!.content;
  return `<a class="channel" href="/channels/${name}">#${name}</a>`;
};

/** So many hidden characters of a mark are kept, to name them. */
const MOST_NAMED = 64;

/** A text with more marks than this has the others as text: each mark is an element, and a browser works on them for long. */
const MOST_MARKS = 500;

/** Text as HTML, with a mark in place of hidden characters. */
function drawn(text: string, env: unknown): string {
  const { escapeHtml } = markdown.utils;
  const counted = env as Env;
  const markOf = (run: string) => {
    counted.marks = (counted.marks ?? 0) + 1;
    if (counted.marks > MOST_MARKS) return `[${labelOf(run)}]`;
    const codes = Array.from(run.slice(0, MOST_NAMED * 2)).slice(0, MOST_NAMED);
    return `<span class="sign" data-run="${codes.map((one) => one.codePointAt(0)!.toString(16)).join(" ")}">${labelOf(run)}</span>`;
  };
  return runsOf(text).map((run) => (run.isHidden ? markOf(run.text) : escapeHtml(run.text))).join("");
}

const { rules } = markdown.renderer;
rules["text"] = (tokens, at, _options, env) => drawn(tokens[at]!.content, env);
rules["code_inline"] = (tokens, at, _options, env) => `<code>${drawn(tokens[at]!.content, env)}</code>`;
rules["code_block"] = (tokens, at, _options, env) => `<pre><code>${drawn(tokens[at]!.content, env)}</code></pre>\n`;
rules["fence"] = (tokens, at, _options, env) => {
  const { content, info } = tokens[at]!;
  const language = languageOf(info);
  return `<pre${language ? ` data-language="${language}"` : ""}><code>${drawn(content, env)}</code></pre>\n`;
};
rules["target"] = (tokens, at) => ` <bdi class="target">(${tokens[at]!.markup} ${markdown.utils.escapeHtml(tokens[at]!.content)})</bdi>`;

/** The words of a token that stands in a link. */
function wordsOf({ type, content }: Token): string {
  if (type === "mention") return `@${content}`;
  return type === "softbreak" || type === "hardbreak" ? " " : content;
}

/** Takes the part of an address after `@` out of the text after a link: `https://bank.example@evil.example` is an address of the latter. */
function restOfAddress(href: string, after: Token | undefined): string {
  if (after?.type !== "text" || !/^https?:\/\/[^/?#]+$/i.test(href)) return "";
  const [more = ""] = /^[^\s/?#<>@]{0,200}@[^\s<>]{1,500}/.exec(after.content) ?? [];
  if (!more || !urlOf(href + more)) return "";
  after.content = after.content.slice(more.length);
  return more;
}

// Pictures become links, for nothing is loaded from elsewhere. Links say where they lead if their text says something else. Whether
// anything in the source is not drawn is noted for the reader.
markdown.core.ruler.push("honest", (state) => {
  const env = state.env as unknown as Env;
  env.isPartial = hasUndrawnBlocks(state.src, state.tokens);
  for (const token of state.tokens) {
    if (!token.children) continue;
    const shown: Token[] = [];
    let link: { open: Token; href: string; text: string } | null = null;
    const add = (type: string, nesting: -1 | 0 | 1, content: string, markup = "") => {
      const added = new state.Token(type, nesting === 0 ? "" : "a", nesting);
      added.content = content;
      added.markup = markup;
      shown.push(added);
      return added;
    };
    for (const [at, child] of token.children.entries()) {
      if (child.type === "image") {
        env.isPartial ||= hasUndrawnTarget(child);
        const href = String(child.attrGet("src") ?? "");
        const words = child.content || "picture";
        if (link) {
          // A link cannot hold another one.
          link.text += words;
          env.isPartial = true;
          add("text", 0, words);
        } else {
          add("link_open", 1, "").attrSet("href", href);
          add("text", 0, words);
          add("link_close", -1, "");
          add("target", 0, urlOf(href)?.host ?? location.host, "image at");
        }
        continue;
      }
      if (child.type === "link_open") {
        env.isPartial ||= hasUndrawnTarget(child);
        link = { open: child, href: String(child.attrGet("href") ?? ""), text: "" };
      } else if (link) {
        link.text += wordsOf(child);
      }
      if (child.type === "link_close" && child.info === "auto" && link) {
        const more = restOfAddress(link.href, token.children[at + 1]);
        if (more) {
          link.href = state.md.normalizeLink(link.href + more);
          link.open.attrSet("href", link.href);
          link.text += more;
          add("text", 0, more);
        }
      }
      shown.push(child);
      if (child.type === "link_close" && link) {
        const target = realTarget(link.text, link.href);
        if (target !== null) add("target", 0, target, "goes to");
        link = null;
      }
    }
    token.children = shown;
  }
});

// `[x]` at the beginning of an item of a list is a box, which nobody can tick here.
markdown.core.ruler.push("task", ({ tokens, Token }) => {
  for (const [at, { children, content }] of tokens.entries()) {
    const first = children?.[0];
    if (first?.type !== "text" || tokens[at - 2]?.type !== "list_item_open") continue;
    const box = /^\[([ xX])\] ./.exec(content);
    if (!box) continue;
    first.content = first.content.slice(4);
    const task = new Token("task", "", 0);
    task.info = box[1] === " " ? "" : "x";
    children!.unshift(task);
  }
});
rules["task"] = (tokens, at) =>
  tokens[at]!.info
    ? '<input type="checkbox" class="task" disabled checked aria-label="Completed task">'
    : '<input type="checkbox" class="task" disabled aria-label="Incomplete task">';

// Links and marks are made of words that were one token before.
markdown.core.ruler.push("count", (state) => {
  const env = state.env as unknown as Env;
  let nodes = 0;
  for (const token of state.tokens) {
    const { nesting, type, children } = token;
    // The parser aligns columns by styles, which the policy of the page forbids.
    const side = /(left|center|right)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
    if (type === "th_open" || type === "td_open") token.attrs = side ? [["class", `to-${side}`]] : null;
    if (nesting >= 0 && type !== "inline") nodes += 1;
    for (const child of children ?? []) nodes += child.nesting < 0 ? 0 : 1;
  }
  if (nodes > env.most) env.isOver = true;
});

interface Env {
  [key: string | symbol]: unknown;
  me?: string;
  channels: ReadonlySet<string>;
  /** Whether the source has text that is not drawn. */
  isPartial?: boolean;
  /** How many marks there are for hidden characters. */
  marks?: number;
  /** How many tokens there are, how many there may be, and whether there would be more. */
  tokens?: number;
  most: number;
  isOver?: boolean;
}

const ALLOWED = {
  ALLOWED_TAGS: [
    "a", "bdi", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "input", "li", "ol", "p", "pre", "s",
    "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["checked", "class", "data-language", "data-run", "disabled", "href", "rel", "start", "target", "type"],
  // Every other value must look like an address.
  ADD_URI_SAFE_ATTR: ["type"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|\/(?!\/)|#)/i,
  RETURN_TRUSTED_TYPE: true,
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  // Channels and people are within the page; all else opens beside it.
  if (node.tagName === "A" && !/^(channel|mention)/.test(node.className)) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  // Only the classes that are made here.
  if (node.hasAttribute("class") && !/^(channel|sign|target|task|to-(left|center|right)|mention( mention-me)?)$/.test(node.getAttribute("class")!)) {
    node.removeAttribute("class");
  }
});

/** A text as it is shown. */
export interface Rendered {
  /** It does nothing but show the text. */
  html: TrustedHTML;
  /** Whether the source has text that is not drawn. */
  isPartial: boolean;
  /** Whether it would become too many elements, so that what is here is not all of it. */
  isOver: boolean;
}

const known = new Map<string, Rendered>();
const MOST_KNOWN = 500;
/** Longer HTML is seldom seen, and would fill the memory. */
const LONGEST_KNOWN = 40_000;

/** Draws what people wrote: the part of it that is shown in place, for this takes longer the longer a text is. */
export function render(text: string, me: string | undefined, channels: readonly string[] = [], most = MOST_NODES): Rendered {
  const key = `${me ?? ""}\0${channels.join()}\0${most}\0${text}`;
  const found = known.get(key);
  if (found) return found;
  const env: Env = { me, channels: new Set(channels), most };
  const tokens = markdown.parse(text, env);
  const isOver = env.isOver ?? false;
  // What exceeds the usual limit is not drawn at all until somebody asks for it.
  const made = isOver && most === MOST_NODES ? "" : markdown.renderer.render(tokens, markdown.options, env);
  const html = DOMPurify.sanitize(made, ALLOWED) as unknown as TrustedHTML;
  const rendered = { html, isPartial: env.isPartial ?? false, isOver };
  if (made.length > LONGEST_KNOWN) return rendered;
  if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value!);
  known.set(key, rendered);
  return rendered;
}

export function toHtml(text: string, me: string | undefined, channels: readonly string[] = []): TrustedHTML {
  return render(text, me, channels).html;
}
