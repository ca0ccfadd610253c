import { logIn, repeatKey } from "../api/client";
import { type Problem, problemOf, sentenceOf, unreachable } from "../api/problem";
import type { Attachment } from "../api/types";
import { toast } from "../ui/Toasts";
import { MOST_FILES, type DraftFile, filesOf, setFiles } from "./drafts";
import { shortName } from "./files";

/** The hub takes no longer ones; to find that out at the end of the upload helps nobody. */
const MOST_BYTES = 50 * 1024 * 1024;
/** More at a time would only make each slower. */
const AT_ONCE = 3;

interface Job {
  draft: string;
  file: File;
  /** The hub knows a repetition by it. */
  repeat: string;
  request: XMLHttpRequest | null;
}

/** What waits or is on its way, by the key of the file in its draft, in the order in which it came. */
const jobs = new Map<string, Job>();

function change(draft: string, key: string, next: Partial<DraftFile>): void {
  setFiles(draft, (now) => now.map((one) => (one.key === key ? { ...one, ...next } : one)));
}

/** Takes files into a draft and uploads them. What does not fit is shown with the reason, and the rest goes on. */
export function addFiles(draft: string, files: readonly File[], folders: readonly string[] = []): void {
  const refuse = (name: string, size: number, error: string): DraftFile => ({
    key: repeatKey(),
    name,
    size,
    part: 0,
    error,
    canRetry: false,
    attachment: null,
  });
  let room = MOST_FILES - filesOf(draft).filter(({ error }) => error === null).length;
  const added = files.map((file) => {
    if (file.size > MOST_BYTES) return refuse(file.name, file.size, "Files can be up to 50 MB.");
    if (room <= 0) return refuse(file.name, file.size, `A message can have up to ${MOST_FILES} files.`);
    room--;
    const key = repeatKey();
    jobs.set(key, { draft, file, repeat: repeatKey(), request: null });
    return { key, name: file.name, size: file.size, part: 0, error: null, canRetry: false, attachment: null };
  });
  added.push(...folders.map((name) => refuse(name, 0, "Folders cannot be uploaded. Choose the files instead.")));
  setFiles(draft, (now) => [...now, ...added]);
  goOn();
}

/** Takes a file out of a draft; if it is on its way, it is stopped. */
export function removeFile(draft: string, key: string): void {
  const job = jobs.get(key);
  jobs.delete(key);
  job?.request?.abort();
  setFiles(draft, (now) => now.filter((one) => one.key !== key));
  goOn();
}

export function retryFile(draft: string, key: string): void {
  if (!jobs.has(key)) return;
  change(draft, key, { error: null, part: 0 });
  goOn();
}

/** Begins with as many as may go at a time. */
function goOn(): void {
  let running = 0;
  for (const [key, job] of jobs) {
    if (running >= AT_ONCE) return;
    const isFailed = filesOf(job.draft).some((one) => one.key === key && one.error !== null);
    if (isFailed) continue;
    running++;
    if (!job.request) start(key, job);
  }
}

function start(key: string, job: Job): void {
  const request = new XMLHttpRequest();
  job.request = request;
  request.open("POST", "/api/attachments");
  request.responseType = "text";
  request.setRequestHeader("Accept", "application/json");
  request.setRequestHeader("Idempotency-Key", job.repeat);
  request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
    if (lengthComputable && jobs.has(key)) change(job.draft, key, { part: loaded / total });
  };
  request.onload = () => {
    const body = parsed(request.responseText);
    if (request.status === 201) finish(key, job, body as Attachment);
    else fail(key, job, problemOf(request.status, body));
  };
  request.onerror = () => fail(key, job, unreachable());
  const form = new FormData();
  form.append("file", job.file, job.file.name);
  request.send(form);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function finish(key: string, { draft }: Job, attachment: Attachment): void {
  jobs.delete(key);
  const same = filesOf(draft).find((one) => one.attachment?.sha256 === attachment.sha256);
  if (same) {
    // A message has each content once, and the hub calls it by its latest name.
    setFiles(draft, (now) => now.filter((one) => one.key !== key));
    toast(`${shortName(attachment.filename)} is already attached.`);
  }
  change(draft, same?.key ?? key, { part: 1, name: attachment.filename, attachment });
  goOn();
}

function fail(key: string, job: Job, problem: Problem): void {
  job.request = null;
  // The file goes with the page, and is told about when one comes back.
  if (problem.status === 401) return logIn();
  if (!problem.isPassing) jobs.delete(key);
  change(job.draft, key, { part: 0, error: sentenceOf(problem), canRetry: problem.isPassing });
  goOn();
}

/** Which files have to be attached again. */
export function unsentWords(names: readonly string[]): string {
  const all = new Intl.ListFormat("en-GB").format(names.map((name) => shortName(name)));
  return names.length === 1 ? `${all} was not sent. Attach it again.` : `${all} were not sent. Attach them again.`;
}

export function sayUnsent(names: readonly string[]): void {
  toast(unsentWords(names), { isError: true });
}
