import { afterEach, expect, test } from "vitest";

import { appearance } from "./appearance";
import { age, ago, clockTime, dayOf, fromInput, toInput } from "./time";

afterEach(() => appearance.set({}));

test("the past and the future are told apart", () => {
  const now = Date.parse("2026-11-14T12:00:00Z");
  expect(ago("2026-11-14T11:48:00Z", now)).toBe("12 min ago");
  expect(ago("2026-11-14T12:00:30Z", now)).toBe("just now");
  expect(ago("2026-11-16T13:00:00Z", now)).toBe("in 2 d");
});

test("where there is little room, the same is said in fewer words", () => {
  const now = Date.parse("2026-11-14T12:00:00Z");
  expect(age("2026-11-14T11:48:00Z", now)).toBe("12 min");
  expect(age("2026-11-14T12:00:30Z", now)).toBe("now");
  expect(age("2026-11-16T13:00:00Z", now)).toBe("in 2 d");
});

test("a moment survives the way through an input, in either zone", () => {
  for (const zone of ["utc", "local"] as const) {
    appearance.set({ zone });
    const at = "2026-11-14T23:30:00.000Z";
    expect(fromInput(toInput(at)), zone).toBe(at);
  }
  appearance.set({ zone: "utc" });
  expect(toInput("2026-11-14T23:30:00.000Z")).toBe("2026-11-14T23:30");
  expect(fromInput("")).toBeUndefined();
  expect(toInput("nonsense")).toBe("");
});

test("in UTC, days and times are those of UTC", () => {
  appearance.set({ zone: "utc" });
  expect(dayOf("2026-11-14T23:59:00Z")).toBe("2026-11-14");
  expect(clockTime("2026-11-14T23:59:00Z")).toMatch(/(23|11):59/);
});
