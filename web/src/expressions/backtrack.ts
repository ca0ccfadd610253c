/**
 * A small regular expression engine that counts its steps. It goes back and tries again as those of browsers do, so an expression that
 * needs many steps here is slow there. Times would tell the same, but not twice alike.
 */

type Match = (text: readonly string[], at: number, groups: Map<number, string>, next: (at: number) => boolean) => boolean;

export interface Counted {
  /** Whether a character can stand somewhere in a match, for each place. */
  sets: ReadonlyArray<(character: string) => boolean>;
  /** The steps to find all matches in a text, or the first one. Infinity if there are too many to count. */
  steps: (text: string, isAll: boolean) => number;
}

/** A lookbehind is tried at so many places before. */
const LONGEST_BEHIND = 4;

/** Nobody waits for more. */
const MOST_STEPS = 100_000;
const TOO_MANY = new Error("too many steps");

export function counted(source: string, flags: string): Counted {
  let at = 0;
  let groups = 0;
  let taken = 0;
  const sets: Array<(character: string) => boolean> = [];
  const spend = () => {
    taken++;
    if (taken > MOST_STEPS) throw TOO_MANY;
  };
  const atomFlags = flags.replace(/[gymd]/g, "");

  const set = (atom: string): Match => {
    const expression = new RegExp(`^(?:${atom})$`, atomFlags);
    const known = new Map<string, boolean>();
    const has = (character: string) => {
      const found = known.get(character) ?? expression.test(character);
      known.set(character, found);
      return found;
    };
    sets.push(has);
    return (text, from, _groups, next) => {
      spend();
      return from < text.length && has(text[from]!) && next(from + 1);
    };
  };
  const assertion = (atom: string): Match => {
    const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);
    const isMultiline = flags.includes("m");
    return (text, from, _groups, next) => {
      spend();
      const [before, after] = [text[from - 1], text[from]];
      const isEdge = isWord(before) !== isWord(after);
      const holds = {
        "^": from === 0 || (isMultiline && before === "\n"),
        $: from === text.length || (isMultiline && after === "\n"),
        "\\b": isEdge,
        "\\B": !isEdge,
      }[atom];
      return holds === true && next(from);
    };
  };
  const sequence = (parts: readonly Match[]): Match =>
    parts.length === 0
      ? (_text, from, _groups, next) => next(from)
      : parts.reduceRight((rest, part) => (text, from, found, next) => part(text, from, found, (to) => rest(text, to, found, next)));
  const repeated = (part: Match, least: number, most: number, isLazy: boolean): Match => {
    const again = (text: readonly string[], from: number, found: Map<number, string>, count: number, next: (to: number) => boolean): boolean => {
      spend();
      const more = () => count < most && part(text, from, found, (to) => (to > from || count < least) && again(text, to, found, count + 1, next));
      const stop = () => count >= least && next(from);
      return isLazy ? stop() || more() : more() || stop();
    };
    return (text, from, found, next) => again(text, from, found, 0, next);
  };
  const look = (part: Match, isBehind: boolean, isNegative: boolean): Match => (text, from, found, next) => {
    spend();
    let holds = false;
    if (isBehind) {
      for (let start = from; start >= 0 && start >= from - LONGEST_BEHIND && !holds; start--) holds = part(text, start, found, (to) => to === from);
    } else {
      holds = part(text, from, found, () => true);
    }
    return holds !== isNegative && next(from);
  };

  function alternatives(): Match {
    const all = [branch()];
    while (source[at] === "|") {
      at++;
      all.push(branch());
    }
    return all.length === 1 ? all[0]! : (text, from, found, next) => all.some((one) => one(text, from, found, next));
  }

  function branch(): Match {
    const parts: Match[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(quantified());
    return sequence(parts);
  }

  function quantified(): Match {
    const part = atom();
    const [whole, sign, least, comma, most] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})/.exec(source.slice(at)) ?? [];
    if (whole === undefined) return part;
    at += whole.length;
    const isLazy = source[at] === "?";
    if (isLazy) at++;
    if (sign) return repeated(part, sign === "+" ? 1 : 0, sign === "?" ? 1 : Number.POSITIVE_INFINITY, isLazy);
    return repeated(part, Number(least), comma ? (most ? Number(most) : Number.POSITIVE_INFINITY) : Number(least), isLazy);
  }

  function atom(): Match {
    const [escape] = /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[^])/u.exec(source.slice(at)) ?? [];
    if (escape !== undefined) {
      at += escape.length;
      if (escape === "\\b" || escape === "\\B") return assertion(escape);
      return /^\\[1-9]$/.test(escape) ? reference(Number(escape[1])) : set(escape);
    }
    if (source[at] === "[") {
      const [written] = /^\[(?:\\[^]|[^\]\\])*\]/.exec(source.slice(at))!;
      at += written.length;
      return set(written);
    }
    if (source[at] === "(") return group();
    const character = String.fromCodePoint(source.codePointAt(at)!);
    at += character.length;
    return character === "^" || character === "$" ? assertion(character) : set(character);
  }

  function reference(index: number): Match {
    return (text, from, found, next) => {
      spend();
      const wanted = Array.from(found.get(index) ?? "");
      return wanted.every((one, more) => text[from + more] === one) && next(from + wanted.length);
    };
  }

  function group(): Match {
    const [opening] = /^\((?:\?(?:<[=!]|[:=!]|<\w+>))?/.exec(source.slice(at))!;
    at += opening.length;
    const isCaptured = opening === "(" || /<\w/.test(opening);
    const index = isCaptured ? ++groups : 0;
    const part = alternatives();
    at++;
    if (/[=!]$/.test(opening)) return look(part, opening.includes("<"), opening.endsWith("!"));
    if (!isCaptured) return part;
    return (text, from, found, next) =>
      part(text, from, found, (to) => {
        const before = found.get(index);
        found.set(index, text.slice(from, to).join(""));
        if (next(to)) return true;
        if (before === undefined) found.delete(index);
        else found.set(index, before);
        return false;
      });
  }

  const match = alternatives();
  return {
    sets,
    steps(text, isAll) {
      taken = 0;
      const characters = Array.from(text);
      try {
        for (let start = 0; start <= characters.length; ) {
          let end = -1;
          match(characters, start, new Map(), (to) => {
            end = to;
            return true;
          });
          if ((end >= 0 && !isAll) || flags.includes("y")) break;
          start = Math.max(start + 1, end);
        }
      } catch (error) {
        if (error !== TOO_MANY) throw error;
        return Number.POSITIVE_INFINITY;
      }
      return taken;
    },
  };
}
