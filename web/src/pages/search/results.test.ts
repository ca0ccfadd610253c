import { expect, test } from "vitest";

import type { Hit, SearchPage } from "../../api/search";
import { groupsOf } from "./groups";
import { cutOf, partsOf } from "./snippet";

const hit = (id: number, channel: string) => ({ id, channel, from: { name: "scout" } }) as Hit;
const page = (...items: Hit[]): SearchPage => ({ items, total: 9, total_capped: false, offset: 0, indexing: false });

test("results are grouped by conversation, and what is there does not move when more come", () => {
  const first = page(hit(9, "a"), hit(8, "b"), hit(7, "a"), hit(6, "b"));
  const idsOf = (pages: SearchPage[]) => groupsOf(pages, undefined).map(({ place, hits }) => [place.name, hits.map(({ id }) => id)]);
  expect(idsOf([first])).toEqual([
    ["a", [9, 7]],
    ["b", [8, 6]],
  ]);
  // A new message has pushed one on to the next page.
  expect(idsOf([first, page(hit(6, "b"), hit(5, "b"), hit(4, "a"))])).toEqual([
    ["a", [9, 7]],
    ["b", [8, 6, 5]],
    ["a", [4]],
  ]);
});

test("nothing in a snippet is markup but the marks", () => {
  expect(partsOf("The <mark>deploy</mark> of Vec&lt;T&gt; &amp;amp; <b>x</b>")).toEqual([
    { text: "The ", isFound: false },
    { text: "deploy", isFound: true },
    { text: " of Vec<T> &amp; <b>x</b>", isFound: false },
  ]);
  expect(partsOf("")).toEqual([]);
});

test("what goes on is told from what does not", () => {
  const cut = (text: string, snippet: string) => Object.values(cutOf(text, partsOf(snippet)));
  expect(cut("one two\nthree four", "two <mark>three</mark>")).toEqual([true, true]);
  expect(cut("one two", "<mark>one</mark> two")).toEqual([false, false]);
  expect(cut("one two", "<mark>one</mark>")).toEqual([false, true]);
  // It is from somewhere else, such as the subject.
  expect(cut("one two", "<mark>three</mark>")).toEqual([false, false]);
});
