import { afterEach, beforeEach, expect, test } from "vitest";

import { openProfile, openedProfile } from "./opened";

const page = document.createElement("div");
const rows: string[] = [];

beforeEach(() => {
  page.innerHTML = `
    <p><button data-profile="critic"><b>Critic</b></button> <a class="mention" href="/people/Scout">@Scout</a> <i>words</i></p>
    <div data-card><a data-profile="bob" href="/people/bob">@bob</a></div>`;
  page.querySelector("p")!.addEventListener("click", () => rows.push("row"));
  document.body.append(page);
  document.addEventListener("click", openProfile, true);
});

afterEach(() => {
  document.removeEventListener("click", openProfile, true);
  page.remove();
  openedProfile.set(null);
  rows.length = 0;
});

const click = (selector: string, options: MouseEventInit = {}) =>
  page.querySelector(selector)!.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ...options }));
const name = () => openedProfile.get()?.name;

test("a name and a mention open a card, and the row around them does nothing", () => {
  expect(click("b")).toBe(false);
  expect(name()).toBe("critic");
  click("a.mention");
  expect(name()).toBe("Scout");
  expect(rows).toEqual([]);
  click("i");
  expect(rows).toEqual(["row"]);
});

test("the same name closes the card, and a name within the card keeps its place", () => {
  click("b");
  const opener = openedProfile.get()?.opener;
  click("[data-card] a");
  expect(openedProfile.get()).toEqual({ name: "bob", opener });
  click("b");
  expect(openedProfile.get()).toBeNull();
});

test("with a key held, a link stays a link", () => {
  for (const key of ["ctrlKey", "metaKey", "shiftKey", "altKey"]) {
    // jsdom cannot follow it, and nothing has prevented it.
    page.addEventListener("click", (event) => event.preventDefault(), { once: true });
    click("a.mention", { [key]: true });
    expect(openedProfile.get()).toBeNull();
  }
  expect(rows).toHaveLength(4);
});
