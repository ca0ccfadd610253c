// @vitest-environment jsdom

import { afterEach, beforeEach, expect, test, vi } from "vitest";

/** Locks as browsers have them, as far as they are used: an exclusive one lets nobody else in. */
function locks() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    request(_name: string, ...rest: unknown[]) {
      const work = rest.at(-1) as () => Promise<unknown>;
      const done = last.then(work);
      last = done.catch(() => undefined);
      return done;
    },
  };
}

let session: "old" | "new" | "none";
let cookie: "old" | "new";
let asked: string[];

/** A hub that takes only the cookie of the session that there is. */
async function hub(input: Request | string): Promise<Response> {
  const request = typeof input === "string" ? new Request(new URL(input, location.origin)) : input;
  asked.push(`${request.method} ${new URL(request.url).pathname}`);
  if (cookie !== session) return Response.json({ code: "session_expired", detail: "The session has ended." }, { status: 401 });
  return Response.json({ user: { username: "admin" }, agents: [] });
}

beforeEach(() => {
  session = cookie = "old";
  asked = [];
  vi.resetModules();
  vi.stubGlobal("fetch", hub);
  vi.stubGlobal("navigator", { ...navigator, locks: locks() });
  // Going elsewhere cannot be seen otherwise.
  vi.stubGlobal("location", { ...location, origin: location.origin, pathname: "/settings/profile", search: "", hash: "", assign: vi.fn() });
});

afterEach(() => vi.unstubAllGlobals());

test("who is asked while the password changes stays, and gets the answer", async () => {
  const { api, ok } = await import("./client");
  const { renewing } = await import("./session");
  let arrive = () => {};
  const changed = renewing(
    () =>
      new Promise<void>((resolve) => {
        // The hub has the new session, and its cookie is on the way.
        session = "new";
        arrive = () => {
          cookie = "new";
          resolve();
        };
      }),
  );
  await vi.waitFor(() => expect(session).toBe("new"));
  const me = ok(api.GET("/auth/me"));
  await vi.waitFor(() => expect(asked).toEqual(["GET /auth/me"]));
  arrive();
  await changed;
  expect(await me).toMatchObject({ user: { username: "admin" } });
  expect(location.assign).not.toHaveBeenCalled();
});

test("what would change something is not repeated, but can be", async () => {
  const { api, ok } = await import("./client");
  const { renewing } = await import("./session");
  session = "new";
  const sent = ok(api.POST("/auth/logout")).catch((error: unknown) => error);
  await renewing(async () => {
    cookie = "new";
  });
  expect(await sent).toMatchObject({ code: "session_renewed", isPassing: true });
  expect(asked.filter((one) => one.startsWith("POST"))).toHaveLength(1);
  expect(location.assign).not.toHaveBeenCalled();
});

test("who is logged out is led to the login once", async () => {
  const { api, ok } = await import("./client");
  session = "none";
  const calls = await Promise.allSettled([ok(api.GET("/auth/me")), ok(api.GET("/api/dm/partners"))]);
  expect(calls.map((call) => call.status)).toEqual(["rejected", "rejected"]);
  expect(location.assign).toHaveBeenCalledOnce();
  expect(location.assign).toHaveBeenCalledWith("/login?next=%2Fsettings%2Fprofile");
  expect(asked).toHaveLength(3);
});

test("a wrong end of changing the password does not wait for itself", async () => {
  const { api, ok } = await import("./client");
  const { renewing } = await import("./session");
  session = "none";
  const body = { current_password: "a", new_password: "b" };
  await expect(renewing(() => ok(api.PUT("/auth/password", { body })))).rejects.toMatchObject({ status: 401 });
});
