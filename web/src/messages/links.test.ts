// @vitest-environment jsdom

import { expect, test } from "vitest";

import { realTarget } from "./links";

test("a link whose text names another host says where it leads", () => {
  const evil = "https://evil.example/login";
  const cases: Array<[string, string]> = [
    ["bank.example", "plain"],
    ["https://bank.example/login", "as an address"],
    ["BANK.EXAMPLE", "in capitals"],
    ["www.bank.example", "with www"],
    ["Log in at bank.example now", "among words"],
    ["(bank.example)", "in brackets"],
    ["→bank.example", "after a sign"],
    ["bank.example:443", "with a port"],
    ["ba\u200bnk.exam\u00adple", "with hidden characters"],
    ["bank．example", "with a wide dot"],
    ["bank。example", "with an ideographic dot"],
    ["bank․example", "with a leader"],
    ["bank·example", "with a dot in the middle"],
    ["𝐛𝐚𝐧𝐤.example", "in mathematical letters"],
    ["ｂａｎｋ.example", "in wide letters"],
    ["https:∕∕bank.example", "with other slashes"],
    ["https:\\\\bank.example", "with backslashes"],
    ["bаnk.example", "with a Cyrillic letter"],
    ["https://bank.example@evil.example", "with a user"],
    ["https://evil.example@bank.example", "the other way round"],
    ["ada@bank.example", "as a mail address"],
    ["mailto:ada@bank.example", "as a mail address with its scheme"],
    ["sub.evil.example", "a host below it"],
    ["evil.example and bank.example", "one of two"],
    ["10.0.0.1", "a number"],
    ["localhost:8080", "this machine"],
    ["http://intranet/", "a host without a dot"],
    ["", "nothing"],
    ["\u200b \u2060", "nothing to be seen"],
  ];
  for (const [text, name] of cases) expect(realTarget(text, evil), name).toBe("evil.example");
});

test("other links show nothing more", () => {
  const cases: Array<[string, string]> = [
    ["the login", "https://evil.example/login"],
    ["Version 1.2.3", "https://evil.example"],
    ["and so on...", "https://evil.example"],
    ["evil.example", "https://evil.example/login"],
    ["EVIL.example/login", "https://evil.example/login"],
    ["https://www.evil.example", "https://evil.example"],
    ["evil.example", "https://www.evil.example/"],
    ["https://evil.example/a/main.js?to=bank.example#x.y", "https://evil.example/a/main.js"],
    ["https://evil.example.", "https://evil.example/"],
    ["evil.example:8080", "http://evil.example:8080/"],
    ["ada@bank.example", "mailto:ada@bank.example"],
    ["mailto:ada@bank.example", "mailto:ada@bank.example?subject=x"],
    ["[::1]", "https://evil.example"],
    ["x", "ftp://evil.example"],
  ];
  for (const [text, href] of cases) expect(realTarget(text, href), text).toBeNull();
});

test("hosts are told in ASCII, and mail addresses whole", () => {
  expect(realTarget("bank.example", "https://bаnk.example")).toBe("xn--bnk-6cd.example");
  expect(realTarget("https://bücher.example", "https://bücher.example")).toBe("xn--bcher-kva.example");
  expect(realTarget("https://bank.example@evil.example", "https://bank.example@evil.example")).toBe("evil.example");
  expect(realTarget("bank.example", "https://bank.example:8443")).toBe("bank.example:8443");
  expect(realTarget("ada@bank.example", "mailto:eve@evil.example")).toBe("eve@evil.example");
  expect(realTarget("bank.example", "/channels/general")).toBe(location.host);
});

// A quadratic expression would take longer than a test may.
test("long texts are compared like short ones", () => {
  for (const text of ["a.".repeat(100_000), "a".repeat(200_000), "a@".repeat(100_000), "://".repeat(60_000), "-.".repeat(100_000), "1.".repeat(100_000)]) {
    expect(() => realTarget(text, "https://evil.example")).not.toThrow();
  }
});
