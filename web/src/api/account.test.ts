// @vitest-environment jsdom

import { afterEach, beforeEach, expect, test, vi } from "vitest";

let answer: () => Promise<Response>;

beforeEach(() => {
  vi.resetModules();
  // Other files share this browser.
  localStorage.clear();
  sessionStorage.clear();
  vi.stubGlobal("fetch", () => answer());
  // Without locks, a refusal is believed only after a while.
  vi.stubGlobal("navigator", { ...navigator, locks: { request: (_name: string, ...rest: unknown[]) => (rest.at(-1) as () => unknown)() } });
  vi.stubGlobal("location", { ...location, origin: location.origin, pathname: "/channels/secret", search: "", hash: "", assign: vi.fn(), replace: vi.fn() });
  localStorage.setItem("stoa.draft.ada.channel:general", '"half a secret"');
  localStorage.setItem("stoa.appearance", "{}");
  sessionStorage.setItem("stoa.outgoing.ada", "[]");
});

afterEach(() => {
  vi.unstubAllGlobals();
  localStorage.clear();
  sessionStorage.clear();
});

async function loggedIn() {
  const { person } = await import("../lib/person");
  person.set("ada");
  return import("./account");
}

test("who logs out leaves nothing, and the login does not say where they were", async () => {
  answer = () => Promise.resolve(new Response(null, { status: 204 }));
  const { logOut } = await loggedIn();
  await logOut();
  expect(Object.keys(localStorage)).toEqual(["stoa.appearance"]);
  expect(Object.keys(sessionStorage)).toEqual([]);
  expect(location.replace).toHaveBeenCalledWith("/login");
  // The stream ends with the session, which leads nowhere else.
  answer = () => Promise.resolve(Response.json({ code: "session_expired" }, { status: 401 }));
  const { api, ok } = await import("./client");
  await expect(ok(api.GET("/auth/me"))).rejects.toMatchObject({ status: 401 });
  expect(location.assign).not.toHaveBeenCalled();
});

test.each(["logOut", "logOutEverywhere"] as const)("what the browser deletes with the session is not how the page looks: %s", async (way) => {
  localStorage.setItem("stoa.appearance", '{"theme":"dark"}');
  answer = () => {
    localStorage.clear();
    return Promise.resolve(new Response(null, { status: 204 }));
  };
  await (await loggedIn())[way]();
  expect({ ...localStorage }).toEqual({ "stoa.appearance": '{"theme":"dark"}' });
  expect(location.replace).toHaveBeenCalledWith("/login");
});

test("who logs out without a connection leaves nothing either, and is told", async () => {
  answer = () => Promise.reject(new TypeError("offline"));
  const { logOut } = await loggedIn();
  await expect(logOut()).rejects.toMatchObject({ status: 0 });
  expect(Object.keys(localStorage)).toEqual(["stoa.appearance"]);
  expect(Object.keys(sessionStorage)).toEqual([]);
  expect(location.replace).not.toHaveBeenCalled();
  // They are still logged in, and what they write from now on is kept.
  const { save } = await import("../lib/storage");
  save("stoa.draft.ada.channel:general", "anew");
  expect(localStorage.getItem("stoa.draft.ada.channel:general")).toBe('"anew"');
});
