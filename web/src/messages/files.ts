import type { Attachment } from "../api/types";

/** Characters that turn the direction of writing, or that are not to be seen: with them `exe.gpj` looks like `jpg.exe`. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** A file's name as it is safe to show. */
export function safeName(name: string): string {
  return name.replace(HIDDEN, "") || "file";
}

/** A name that fits: of a long one its beginning and its ending, for the ending says what it is. */
export function shortName(name: string, most = 40): string {
  const letters = Array.from(safeName(name));
  if (letters.length <= most) return letters.join("");
  const tail = Math.min(12, Math.floor(most / 3));
  return `${letters.slice(0, most - tail - 1).join("")}…${letters.slice(-tail).join("")}`;
}

export function addressOf(file: Attachment): string {
  return `/api/attachments/${file.sha256}`;
}

/** What a type is called. */
export function typeWord(type: string): string {
  if (type === "application/pdf") return "PDF";
  if (type === "text/plain") return "text";
  return type.startsWith("image/") ? `${type.slice(6).replace("x-icon", "icon").toUpperCase()} image` : type;
}
