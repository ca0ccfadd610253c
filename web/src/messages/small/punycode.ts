import { urlOf } from "../../lib/url";

/**
 * Stands in for the library of this name, of which markdown-it takes two functions. The browser can do the first by itself, and hosts are
 * shown as they are asked for: one that looks like another is told apart by that.
 */
const punycode = {
  toASCII(host: string): string {
    // What is no host stays as it is, and leads nowhere.
    return urlOf(`https://${host}`)?.hostname ?? host;
  },
  toUnicode(host: string): string {
    return host;
  },
};

export default punycode;
