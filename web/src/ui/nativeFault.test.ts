import { expect, test } from "vitest";

import { faultWords, lengthFault } from "./nativeFault";

const control = (validity: Partial<ValidityState>, more = {}) => ({ validity: validity as ValidityState, title: "", type: "text", validationMessage: "", ...more });

test("a fault is said in the words of the page", () => {
  expect(faultWords(control({ valueMissing: true }), "Name")).toBe("Name cannot be empty.");
  expect(faultWords(control({ patternMismatch: true }, { title: "Lowercase letters." }), "Name")).toBe("Lowercase letters.");
  expect(faultWords(control({ rangeOverflow: true }, { type: "number", min: "0", max: "1" }), "Threshold")).toBe("Enter a number from 0 to 1.");
  expect(faultWords(control({ badInput: true }, { type: "number" }), "Threshold")).toBe("Enter a number.");
});

test("a text that is too long says by how much", () => {
  expect(lengthFault("abc", 3)).toBe("");
  expect(lengthFault("abcde", 3)).toBe("At most 3 characters. Remove 2.");
  expect(lengthFault("abcde", undefined)).toBe("");
});
