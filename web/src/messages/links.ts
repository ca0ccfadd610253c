import { withoutHidden } from "../lib/hidden";
import { urlOf } from "../lib/url";

/** What is longer is no address that somebody reads. */
const LONGEST_TEXT = 2000;
const LONGEST_WORD = 300;

const SEPARATORS = /[\s<>()[\]{}"'`|,;…“”‘’«»]+/;
/** Host names and addresses of machines, wherever they stand in a word. */
const HOSTS = /(?<![\p{L}\p{N}\p{M}_-]\.?)(?:[\p{L}\p{N}\p{M}_-]+\.)+\p{L}[\p{L}\p{N}\p{M}-]*(?::\d{1,5})?|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|\blocalhost(?::\d{1,5})?\b/gu;

/** The host that a link leads to, in ASCII, or the mail address; null if the browser cannot follow it. */
function targetOf(href: string): string | null {
  if (/^mailto:/i.test(href)) return decoded(href.slice("mailto:".length).split("?")[0]!).toLowerCase();
  if (/^https?:/i.test(href)) return urlOf(href)?.host ?? null;
  return /^(?:\/(?!\/)|#)/.test(href) ? location.host : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The text as somebody reads it: letters that look alike only because of their form are the same, and so are dots and slashes. */
function folded(text: string): string {
  return withoutHidden(text.slice(0, LONGEST_TEXT)).normalize("NFKC").toLowerCase().replace(/[。‧·∙⋅ꞏ]/g, ".").replace(/[\\∕⁄⧸╱]/g, "/");
}

/** The hosts and mail addresses that a text names. `hasUser` says that an address has a part before the host that may look like one. */
function addressesIn(text: string): { hosts: string[]; hasUser: boolean } {
  const hosts: string[] = [];
  let hasUser = false;
  for (const word of folded(text).split(SEPARATORS)) {
    const whole = word.slice(0, LONGEST_WORD).replace(/^mailto:/, "");
    const scheme = whole.indexOf("://");
    const authority = (scheme < 0 ? whole : whole.slice(scheme + 3)).split(/[/?#]/, 1)[0]!;
    const user = authority.lastIndexOf("@");
    if (scheme >= 0) {
      hasUser ||= user >= 0;
      hosts.push(authority.slice(user + 1).replace(/(?<![.:!])[.:!]+$/, ""));
    } else if (user > 0 && authority.slice(user).includes(".")) {
      hosts.push(authority.replace(/(?<![.:!])[.:!]+$/, ""));
    } else {
      hosts.push(...(authority.match(HOSTS) ?? []));
    }
  }
  return { hosts: hosts.filter(Boolean), hasUser };
}

/** A host in the form in which two can be compared. */
function comparable(host: string): string {
  if (host.includes("@")) return host;
  const ascii = urlOf(`http://${host}`)?.host ?? host;
  return ascii.replace(/^www\./, "").replace(/\.$/, "").replace(/:(?:80|443)$/, "");
}

/**
 * Where a link leads, if its text can make somebody think that it leads elsewhere: the text names another host, or one that looks the same
 * in another script, or nothing at all.
 */
export function realTarget(text: string, href: string): string | null {
  const target = targetOf(href);
  if (target === null) return null;
  if (withoutHidden(text).trim() === "") return target;
  const { hosts, hasUser } = addressesIn(text);
  if (hosts.length === 0) return null;
  const isOther = hosts.some((host) => comparable(host) !== comparable(target));
  const isInOtherScript = /(?:^|\.)xn--/.test(target);
  return isOther || hasUser || isInOtherScript ? target : null;
}
