import { expect, test } from "vitest";

import { describeRun } from "./characterNames";
import { hasHidden, labelOf, runsOf, spelled, withoutHidden } from "./hidden";

test("characters that nobody sees are found", () => {
  const cases: Array<[string, string]> = [
    ["zero width space", "a\u200bb"],
    ["zero width joiner between letters", "a\u200db"],
    ["zero width non-joiner between Latin letters", "a\u200cb"],
    ["word joiner", "a\u2060b"],
    ["byte order mark", "\ufeffa"],
    ["override", "\u202egpj.exe"],
    ["embedding", "\u202aa\u202c"],
    ["isolate", "\u2066a\u2069"],
    ["mark", "a\u200eb\u200fc\u061cd"],
    ["tags", "a\u{e0069}\u{e0067}"],
    ["tags after a flag", "\u{1f3f4}\u{e0069}\u{e0067}\u{e007f}"],
    ["variation selector after a letter", "a\ufe0f"],
    ["second variation selector after an emoji", "❤\ufe0f\ufe0f"],
    ["supplementary variation selector", "😀\u{e0101}"],
    ["variation selector after a digit", "1\ufe0f"],
    ["joiner after an emoji", "😀\u200d"],
    ["joiner between an emoji and a letter", "😀\u200da"],
    ["soft hyphen", "a\u00adb"],
    ["Hangul fillers", "\u3164\u115f\u1160\uffa0"],
    ["grapheme joiner", "a\u034fb"],
    ["Mongolian vowel separator", "a\u180eb"],
    ["Khmer vowels", "\u17b4"],
    ["musical controls", "\u{1d173}"],
    ["annotation", "a\ufff9b\ufffac\ufffb"],
    ["C0", "a\u0007b\u001b[31m"],
    ["C1", "a\u0085b\u009b"],
    ["delete", "a\u007f"],
    ["line separator", "a\u2028b\u2029"],
    ["blank Braille", "a\u2800b"],
    ["invisible operators", "a\u2061\u2062\u2063\u2064b"],
    ["unassigned that are to be ignored", "a\u{e0fff}b"],
  ];
  for (const [name, text] of cases) expect(hasHidden(text), name).toBe(true);
});

test("what people see, and what makes up emoji, is not hidden", () => {
  const texts = ["", "plain", "two\nlines\twith a tab\r\n", "naïve café", "日本語", "שלום", "❤️", "☎︎", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🕵🏽‍♂️", "1️⃣ #️⃣", "🇫🇷", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "क्‍ष", "a\u00a0b"];
  for (const text of texts) {
    expect(hasHidden(text), text).toBe(false);
    expect(spelled(text)).toBe(text);
  }
});

test("hidden characters that follow each other are one mark", () => {
  expect(runsOf("a\u200b\u200bb\u202ec")).toEqual([
    { text: "a", isHidden: false },
    { text: "\u200b\u200b", isHidden: true },
    { text: "b", isHidden: false },
    { text: "\u202e", isHidden: true },
    { text: "c", isHidden: false },
  ]);
  expect(labelOf("\u200b")).toBe("U+200B");
  expect(labelOf("\u{e0069}")).toBe("U+E0069");
  expect(labelOf("\u200b\u200b")).toBe("U+200B ×2");
  expect(labelOf("\u200b\u200c\u200d")).toBe("3 invisible");
  expect(spelled("pay\u202e evil")).toBe("pay[U+202E] evil");
  expect(withoutHidden("ba\u200bnk\u00ad")).toBe("bank");
});

test("marks are named", () => {
  expect(describeRun("\u200b")).toBe("ZERO WIDTH SPACE (U+200B)");
  expect(describeRun("\u202e\u202e\u2066")).toBe("RIGHT-TO-LEFT OVERRIDE (U+202E) ×2, LEFT-TO-RIGHT ISOLATE (U+2066)");
  expect(describeRun("\u{e0069}\u{e0067}")).toContain("They spell: “ig”");
  expect(describeRun("\ufe01\u{e0101}")).toBe("VARIATION SELECTOR-2 (U+FE01), VARIATION SELECTOR-18 (U+E0101)");
  expect(describeRun("\u0007\u0085")).toBe("CONTROL CHARACTER (U+0007), CONTROL CHARACTER (U+0085)");
  expect(describeRun("\u{e0fff}")).toBe("INVISIBLE CHARACTER (U+E0FFF)");
});

// A quadratic expression would take longer than a test may.
test("long texts are split like short ones", () => {
  const attacks = ["\u200b".repeat(200_000), "a\u200b".repeat(100_000), "😀\u200d".repeat(100_000), "\u{1f3f4}\u{e0067}".repeat(50_000), "1\ufe0f".repeat(100_000)];
  for (const attack of attacks) expect(runsOf(attack).map(({ text }) => text).join("") === attack).toBe(true);
});
