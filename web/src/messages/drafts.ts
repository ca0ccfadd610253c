import { type Attachment, type Place, placeKey } from "../api/types";
import { person } from "../lib/person";
import { load, save } from "../lib/storage";
import { store } from "../lib/store";

/** A file that goes with a message that is being written. */
export interface DraftFile {
  key: string;
  name: string;
  size: number;
  /** How much of it is uploaded, from 0 to 1. */
  part: number;
  /** Why it could not be uploaded. */
  error: string | null;
  /** Whether it may go better another time. */
  canRetry: boolean;
  /** What the hub knows it by, once it has it. */
  attachment: Attachment | null;
}

export const MOST_FILES = 10;
const NONE: DraftFile[] = [];

/** What one is writing is kept by this: by who writes, by place and by what it answers to. */
export function draftKey(place: Place, replyTo?: number | null): string {
  return `stoa.draft.${person.get()}.${placeKey(place)}${replyTo ? `.${replyTo}` : ""}`;
}

const all = store<Record<string, DraftFile[]>>({});
export const draftFiles = all;

export function fromAttachment(attachment: Attachment): DraftFile {
  const { sha256, filename, size } = attachment;
  return { key: sha256, name: filename, size, part: 1, error: null, canRetry: false, attachment };
}

/** The files of a draft; those that were uploaded are there after a reload, too. */
export function filesOf(key: string): DraftFile[] {
  const known = all.get()[key];
  if (known) return known;
  tellUnsent(key);
  const kept = load<Attachment[]>(`${key}.files`, []);
  if (!Array.isArray(kept) || kept.length === 0) return NONE;
  const files = kept.map(fromAttachment);
  all.set((now) => ({ ...now, [key]: files }));
  return files;
}

export function setFiles(key: string, change: (now: DraftFile[]) => DraftFile[]): void {
  const files = change(filesOf(key));
  all.set((now) => ({ ...now, [key]: files }));
  const kept = files.flatMap(({ attachment }) => (attachment ? [attachment] : []));
  save(`${key}.files`, kept.length ? kept : null);
  const unsent = files.filter(({ attachment, error, canRetry }) => !attachment && (error === null || canRetry)).map(({ name }) => name);
  save(`${key}.unsent`, unsent.length ? unsent : null, "tab");
}

/** What was on its way when the page was left, for a login perhaps, the browser does not keep; the person has to know. */
function tellUnsent(key: string): void {
  const names = load<string[]>(`${key}.unsent`, [], "tab");
  if (!Array.isArray(names) || names.length === 0) return;
  save(`${key}.unsent`, null, "tab");
  void import("./upload").then(({ sayUnsent }) => sayUnsent(names), () => undefined);
}

/** Counts what was put back, so that whoever shows the draft looks again. */
export const returned = store(0);
