import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

/** HTML in a text is text: `Vec<T>` stays what it is. */
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, typographer: false });

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
  }
  state.pos += match[0].length;
  return true;
});
markdown.renderer.rules["mention"] = (tokens, at, _options, env) => {
  const name = tokens[at]!.content;
  const me = (env as { me?: string } | undefined)?.me;
  const isMe = name.toLowerCase() === me?.toLowerCase() || name === "channel" || name === "here";
  const escaped = markdown.utils.escapeHtml(name);
  return `<span class="mention${isMe ? " mention-me" : ""}">@${escaped}</span>`;
};

/** The names of channels in a text, as they may be written there. */
const CHANNEL = "(?<![\\p{L}\\p{N}_#@&./?=:%~+;-])#([a-z0-9][a-z0-9_-]{0,63})(?![\\p{L}\\p{N}_-])";
const CHANNELS = new RegExp(CHANNEL, "gu");
const CHANNEL_HERE = new RegExp(CHANNEL, "uy");

/** Which of the channels a text speaks of, in the order of the text. */
export function channelsIn(text: string, isThere: (name: string) => boolean): string[] {
  return [...new Set([...text.matchAll(CHANNELS)].map((match) => match[1]!))].filter(isThere);
}

// `#channel` outside code and links, where there is such a channel.
markdown.inline.ruler.before("emphasis", "channel", (state, silent) => {
  if (state.src[state.pos] !== "#" || state.linkLevel > 0) return false;
  CHANNEL_HERE.lastIndex = state.pos;
  const match = CHANNEL_HERE.exec(state.src);
  const { channels } = state.env as { channels: readonly string[] };
  if (!match || !channels.includes(match[1]!)) return false;
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

const ALLOWED = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["class", "href", "rel", "start", "target"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|\/(?!\/)|#)/i,
  RETURN_TRUSTED_TYPE: true,
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  // A channel is within the page; all else opens beside it.
  if (node.tagName === "A" && node.className !== "channel") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  // Only the classes that are made here and by the renderer of code.
  if (node.hasAttribute("class") && !/^(channel|mention( mention-me)?|language-[\w+#-]+)$/.test(node.getAttribute("class")!)) {
    node.removeAttribute("class");
  }
});

const known = new Map<string, TrustedHTML>();
const MOST_KNOWN = 500;
/** Texts that are longer are seldom seen, and would fill the memory. */
const LONGEST_KNOWN = 20_000;

/** What people wrote, as HTML that does nothing but show it. */
export function toHtml(text: string, me: string | undefined, channels: readonly string[] = []): TrustedHTML {
  const key = `${me ?? ""}\0${channels.join()}\0${text}`;
  const found = known.get(key);
  if (found) return found;
  const html = DOMPurify.sanitize(markdown.render(text, { me, channels }), ALLOWED) as unknown as TrustedHTML;
  if (text.length > LONGEST_KNOWN) return html;
  if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value!);
  known.set(key, html);
  return html;
}
