import { expect, test } from "vitest";

import { splitWords } from "../../agents/runs/commandLine";
import { inviteCommand } from "./inviteCommand";

const command = (note: string) => inviteCommand({ from: "mira", note, role: "member", valid: "7d" });

test("the command names whom it is for, the role and how long it is valid", () => {
  expect(command("Jonas Weber")).toBe('stoa admin users invite --for "Jonas Weber" --from mira --role member --valid 7d');
  expect(inviteCommand({ from: "mira", note: "  ", role: "admin", valid: "24h" })).toBe("stoa admin users invite --from mira --role admin --valid 24h");
  expect(command("Zoë O'Neill, support")).toBe('stoa admin users invite --for "Zoë O\'Neill, support" --from mira --role member --valid 7d');
});

test("a shell passes every note on as it is", () => {
  for (const note of ['say "hi"', "it's $HOME", "`id`", "$(id)", "a\\", 'a"; id; "', "it's; id #", "hi!!", "a & b | c > d", "*", "~", "'"]) {
    const line = command(note);
    expect(splitWords(line).words, note).toEqual(["stoa", "admin", "users", "invite", "--for", note, "--from", "mira", "--role", "member", "--valid", "7d"]);
    // Between double quotes a shell still looks at these.
    if (/[$`\\!"]/.test(note)) expect(line, note).toContain("--for '");
  }
});

test("a note is neither an option nor a second line", () => {
  expect(splitWords(command("--role")).words).toContain("--for=--role");
  expect(command("Ann\n\u001b[2J\u202eBob\u200b")).toContain("--for 'Ann[2JBob'");
});
