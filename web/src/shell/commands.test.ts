import { expect, test } from "vitest";

import { conversationAt } from "./commands";

test("a conversation is known by its address", () => {
  expect(conversationAt("/channels/deep-sea", undefined)).toEqual({ kind: "channel", name: "deep-sea" });
  expect(conversationAt("/dm/scout", undefined)).toEqual({ kind: "dm", name: "scout" });
  expect(conversationAt("/dm/scout", "scribe")).toBeNull();
  expect(conversationAt("/channels", undefined)).toBeNull();
  expect(conversationAt("/channels/deep-sea/board", undefined)).toBeNull();
});
