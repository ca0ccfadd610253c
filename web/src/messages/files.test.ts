import { expect, test } from "vitest";

import type { Attachment } from "../api/types";
import { safeName, shortName, typeWord } from "./files";
import { hasThumbnail, isImage } from "./pictures";

const file = (mime_type: string, size = 10): Attachment => ({ sha256: "0".repeat(64), size, mime_type, filename: "a" });

test("a name shows what it is: nothing turns it around or hides in it", () => {
  expect(safeName("gpj.\u202Eexe")).toBe("gpj.exe");
  expect(safeName("a\u200Bb\u0000c\u2066d\u061C.txt")).toBe("abcd.txt");
  expect(safeName("\u202E\u200F")).toBe("file");
  expect(safeName("<img src=x onerror=alert(1)>.png")).toBe("<img src=x onerror=alert(1)>.png");
});

test("a long name keeps its beginning and its ending", () => {
  const short = shortName(`${"a".repeat(196)}.pdf`);
  expect(Array.from(short)).toHaveLength(40);
  expect(short).toMatch(/^a+…a+\.pdf$/);
  expect(shortName("report.pdf")).toBe("report.pdf");
  expect(shortName("😀".repeat(50), 10)).toBe(`${"😀".repeat(6)}…${"😀".repeat(3)}`);
});

test("only what the hub lets a browser show is a picture, and only what is not too long to load is shown at once", () => {
  expect(isImage(file("image/png"))).toBe(true);
  expect(isImage(file("image/tiff"))).toBe(false);
  expect(isImage(file("text/plain"))).toBe(false);
  expect(hasThumbnail(file("image/png", 9 * 1024 * 1024))).toBe(false);
});

test("types have names", () => {
  expect(["application/pdf", "text/plain", "image/png", "font/woff"].map(typeWord)).toEqual(["PDF", "text", "PNG image", "font/woff"]);
});
