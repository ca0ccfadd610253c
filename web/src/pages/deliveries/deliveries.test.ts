import { expect, test } from "vitest";

import { pausesOf } from "./attempts";
import { curlOf } from "./curl";
import { countIn, filterOf } from "./filter";
import { deliverySearch } from "./search";

test("the address is read with care", () => {
  const search = { agent: 42, webhook: "7", status: "lost", event: "channel.message", since: "yesterday", until: "2026-11-14", peek: -1, other: 1 };
  expect(filterOf(deliverySearch(search))).toEqual({ agent: "42", webhook: 7, event: "channel.message", until: "2026-11-14" });
  expect(filterOf(deliverySearch({ status: "dead", peek: 3 }))).toEqual({ status: "dead" });
});

test("what waits is held where the webhook holds it", () => {
  const webhooks = [
    { waiting: 3, dead_letters: 1 },
    { waiting: 5, dead_letters: 50, disabled_reason: "failures" as const },
    { waiting: 0, dead_letters: 2, disabled_reason: "gone" as const },
  ];
  const counts = (["pending", "held", "dead", "delivered"] as const).map((status) => countIn(status, webhooks));
  expect(counts).toEqual([3, 5, 53, 0]);
});

test("a command cannot be left by what others wrote", () => {
  const text = curlOf({ url: "https://a.example/it's", headers: [["webhook-id", "msg_1"]], body: { body: "'; rm -rf ~ #\n\u001b[2J\u202e" } });
  expect(text).toBe(
    [
      "curl -X POST 'https://a.example/it'\\''s'",
      "-H 'webhook-id: msg_1'",
      `--data-raw '{"body":"'\\''; rm -rf ~ #\\n\\u001b[2J\\u202e"}'`,
    ].join(" \\\n  "),
  );
});

test("a command has no signature and only visible characters", () => {
  const headers: Array<[string, string]> = [["Webhook-Signature", "v1,abc"], ["user-agent", "Stoa\n\u0007'"]];
  const text = curlOf({ url: "https://a.example/\u200b\u0000", headers, body: { emoji: "😀", del: "\u007f\u0085" } });
  expect(text).not.toContain("v1,abc");
  expect(text).toContain("-H 'user-agent: Stoa'\\'''");
  expect(text).toContain(`{"emoji":"\\ud83d\\ude00","del":"\\u007f\\u0085"}`);
  expect(text.replaceAll("\n", "")).toMatch(/^[\x20-\x7e]+$/);
});

test("attempts say how long they came after each other", () => {
  const at = ["10:02:07.114", "10:02:08.160", "10:02:13.201", "10:02:43.240"].map((time) => ({ at: `2026-11-16T${time}Z` }));
  expect(pausesOf(at)).toEqual(["immediately", "+1 s", "+5 s", "+30 s"]);
});
