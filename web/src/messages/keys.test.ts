// @vitest-environment jsdom

import { afterEach, expect, test } from "vitest";

import { isFor } from "./keys";

afterEach(() => document.body.replaceChildren());

function page(style: string) {
  const part = (tag: string, inside: Element = document.body) => inside.appendChild(document.createElement(tag));
  const [heading, list, thread] = [part("h1"), part("div"), part("aside")];
  thread.dataset["thread"] = "1";
  thread.style.position = style;
  return { heading, list, close: part("button", thread), replies: part("div", thread) };
}

test("keys are for the conversation, and in a thread for the thread", () => {
  const { heading, list, close, replies } = page("static");
  expect([isFor(list, heading), isFor(replies, heading)]).toEqual([true, false]);
  expect([isFor(list, close), isFor(replies, close)]).toEqual([false, true]);
});

test("a thread that covers the page has the keys", () => {
  const { heading, list, replies } = page("fixed");
  expect([isFor(list, heading), isFor(replies, heading)]).toEqual([false, true]);
});
