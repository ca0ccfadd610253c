// @vitest-environment jsdom

import { afterEach, expect, test } from "vitest";

import { forget, load, save } from "./storage";

afterEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

test("who logs out leaves nothing, and others keep what is theirs", () => {
  save("stoa.draft.ada.channel:general", "half a thought");
  save("stoa.draft.ada.channel:general.files", [1]);
  save("stoa.draft.ada.edit.7", "changed");
  save("stoa.draft.ada.instructions.scout", "be kind");
  save("stoa.draft.ada.dm::bob.unsent", ["a.png"], "tab");
  save("stoa.outgoing.ada", [{}], "tab");
  const kept = ["stoa.appearance", "stoa.draft.bob.channel:general", "stoa.draft.ada-2.channel:general"];
  for (const key of kept) save(key, "kept");
  save("stoa.outgoing.ada-2", "kept", "tab");
  const keepAgain = forget("ada");
  expect(Object.keys(localStorage).sort()).toEqual([...kept].sort());
  expect(Object.keys(sessionStorage)).toEqual(["stoa.outgoing.ada-2"]);

  // What fails to be sent just then is not kept.
  save("stoa.outgoing.ada", [{}], "tab");
  save("stoa.draft.bob.dm::ada", "kept");
  expect(load("stoa.outgoing.ada", null, "tab")).toBeNull();
  expect(load("stoa.draft.bob.dm::ada", null)).toBe("kept");
  keepAgain();
  save("stoa.draft.ada.channel:general", "anew");
  expect(load("stoa.draft.ada.channel:general", null)).toBe("anew");
});
