// Files that go with messages.

import { crc32, deflateSync } from "node:zlib";
import { equal, until } from "./frame.mjs";

const article = (page, text) => page.locator("article", { hasText: text });

/** A picture of one colour. */
function picture(colour, [width, height] = [300, 180], isEmpty = false) {
  const line = Buffer.concat([Buffer.from([0]), Buffer.concat(Array.from({ length: width }, () => Buffer.from(colour)))]);
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const lines = isEmpty ? Buffer.alloc(0) : Buffer.concat(Array.from({ length: height }, () => line));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const RED = picture([200, 40, 40]);
const BLUE = picture([40, 60, 200]);
const ARCHIVE = Buffer.from("504b0304140000000800000021000000000000000000000000000000", "hex");

const fileOf = (name, content, mimeType) => ({ name, buffer: Buffer.from(content), mimeType });

/** Lets files fall on something, or pastes them into it. */
function give(target, how, files) {
  const sent = files.map(({ name, buffer, mimeType }) => ({ name, type: mimeType, base64: buffer.toString("base64") }));
  return target.evaluate(
    (element, { how, sent }) => {
      const data = new DataTransfer();
      for (const { name, type, base64 } of sent) {
        data.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name, { type }));
      }
      const common = { bubbles: true, cancelable: true };
      if (how === "paste") element.dispatchEvent(new ClipboardEvent("paste", { ...common, clipboardData: data }));
      else for (const type of ["dragenter", "dragover", "drop"]) element.dispatchEvent(new DragEvent(type, { ...common, dataTransfer: data }));
    },
    { how, sent },
  );
}

const tray = (page) => page.getByRole("list", { name: "Attached files" });

/** What is dropped or pasted goes with the message; what the hub does not take is told, and the rest goes on. */
export async function droppedAndPasted({ hub, watcher }) {
  watcher.allow(/422/);
  const bob = await hub.person("bob");
  const [page, other] = [await watcher.page(await watcher.window(hub.admin)), await watcher.page(await watcher.window(bob))];
  for (const one of [page, other]) {
    await one.goto(`${hub.url}/channels/general`);
    await one.getByLabel("Message #general").waitFor();
  }
  const field = page.getByLabel("Message #general");
  await give(page.getByText("No messages yet"), "drop", [
    fileOf("red.png", RED, "image/png"),
    fileOf("tools.zip", ARCHIVE, "application/zip"),
    fileOf("notes.txt", "a, b and c", "text/plain"),
  ]);
  await tray(page).getByRole("button", { name: "Remove red.png" }).waitFor();
  await tray(page).getByRole("button", { name: "Remove notes.txt" }).waitFor();
  await tray(page).getByRole("alert").filter({ hasText: "This file type is not supported" }).waitFor();
  await give(field, "paste", [fileOf("blue.png", BLUE, "image/png")]);
  await tray(page).getByRole("button", { name: "Remove blue.png" }).waitFor();
  // The same content a second time is not taken twice; it has its latest name.
  await give(field, "paste", [fileOf("crimson.png", RED, "image/png")]);
  await page.getByText("crimson.png is already attached.").waitFor();
  equal(await tray(page).getByRole("listitem").count(), 4, "how many files there are");
  await watcher.checkAccess(page, "files to be sent");
  await field.fill("two pictures and a text");
  await page.keyboard.press("Enter");
  const row = article(page, "two pictures and a text");
  await row.getByRole("link", { name: "Download notes.txt" }).waitFor();
  // What was not sent is not forgotten.
  equal(await tray(page).getByRole("listitem").count(), 1, "what is left to be sent");
  await tray(page).getByRole("button", { name: "Remove tools.zip" }).click();
  await tray(page).waitFor({ state: "detached" });

  const seen = article(other, "two pictures and a text");
  await until("the pictures are there", () => seen.locator("img").evaluateAll((all) => all.length === 2 && all.every((one) => one.naturalWidth === 300)));
  const box = await seen.locator("img").first().boundingBox();
  equal([Math.round(box.width), Math.round(box.height)], [238, 158], "the place of a picture");
  await seen.getByRole("button", { name: "Open crimson.png" }).click();
  const dialog = other.getByRole("dialog", { name: "crimson.png" });
  await dialog.getByText("1 of 2").waitFor();
  await watcher.checkAccess(other, "a picture in large");
  await other.keyboard.press("ArrowRight");
  await other.getByRole("dialog", { name: "blue.png" }).getByText("2 of 2").waitFor();
  await other.keyboard.press("Escape");
  await other.getByRole("dialog").waitFor({ state: "detached" });
  await until("the focus is back", () => seen.getByRole("button", { name: "Open crimson.png" }).evaluate((one) => one === document.activeElement));
  const [download] = await Promise.all([other.waitForEvent("download"), seen.getByRole("link", { name: "Download notes.txt" }).click()]);
  equal(download.suggestedFilename(), "notes.txt", "what is downloaded");
}

/** Files stay with what one writes: after a reload, when one stops an upload, and when it cannot be sent. */
export async function filesAreKept({ hub, watcher }) {
  watcher.allow(/ERR_|Failed to load/);
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  const field = page.getByLabel("Message #general");
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await page.locator("input[type=file]").setInputFiles([fileOf("plan.txt", "first this, then that", "text/plain")]);
  await tray(page).getByRole("button", { name: "Remove plan.txt" }).waitFor();

  let held;
  await page.route("**/api/attachments", (route) => (held = route));
  await page.locator("input[type=file]").setInputFiles([fileOf("slow.txt", "very slow", "text/plain")]);
  await until("it is on its way", () => held);
  await field.fill("the plan");
  equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true, "whether it waits for the upload");
  await tray(page).getByRole("button", { name: "Cancel slow.txt" }).click();
  await tray(page).getByText("slow.txt").waitFor({ state: "detached" });
  await page.unroute("**/api/attachments");

  await page.reload();
  await tray(page).getByRole("button", { name: "Remove plan.txt" }).waitFor();
  equal(await field.inputValue(), "the plan", "what was written");

  await page.route("**/api/messages", (route) => route.abort("connectionreset"));
  await field.press("Enter");
  const row = article(page, "the plan");
  await row.getByRole("link", { name: "Download plan.txt" }).waitFor();
  await row.getByRole("button", { name: "Edit" }).click();
  await tray(page).getByRole("button", { name: "Remove plan.txt" }).waitFor();
  equal(await field.inputValue(), "the plan", "what is written anew");
  await field.press("Enter");
  await row.getByRole("button", { name: "Retry" }).waitFor();
  await page.unroute("**/api/messages");
  await row.getByRole("button", { name: "Retry" }).click();
  await until("it is sent", async () => {
    const { items } = await hub.admin.call("GET", "/api/channels/general/messages");
    return items.some(({ body, attachments }) => body === "the plan" && attachments[0]?.filename === "plan.txt");
  });
  await row.getByRole("button", { name: "Retry" }).waitFor({ state: "detached" });
  equal(await row.count(), 1, "how often it is shown");

  // The session ends while a file is on its way: what is written is kept, and that the file is not is told.
  watcher.allow(/401/);
  await page.route("**/api/attachments", (route) => (held = route), { times: 1 });
  held = null;
  await page.locator("input[type=file]").setInputFiles([fileOf("late.txt", "too late", "text/plain")]);
  await until("it is on its way", () => held);
  await field.fill("see the file");
  await hub.admin.call("POST", "/auth/logout");
  await page.waitForURL(/\/login/);
  await page.getByLabel("Username").fill("admin");
  await page.getByLabel("Password").fill(hub.password);
  await page.keyboard.press("Enter");
  await page.getByText("late.txt was not sent. Attach it again.", { exact: true }).waitFor();
  equal(await field.inputValue(), "see the file", "what was written before the login");
  await watcher.checkAccess(page, "after a login with a file on its way");
}

async function upload(caller, name, content) {
  const form = new FormData();
  form.append("file", new Blob([content]), name);
  const headers = caller.key ? { Authorization: `Bearer ${caller.key}` } : { Cookie: caller.cookie };
  const answer = await fetch(`${caller.hub.url}/api/attachments`, { method: "POST", headers, body: form });
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** The list of what one has uploaded: each content once, whatever it is called, and nothing of a name runs. */
export async function uploadedFiles({ hub, watcher }) {
  const context = await watcher.window(hub.admin, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  const page = await watcher.page(context);
  await page.goto(`${hub.url}/attachments`);
  await page.getByText("No files yet").waitFor();
  const names = ['<img src=x onerror="window.hit=1">.txt', `${"long".repeat(49)}.txt`, "gpj.\u202Etxt"];
  const files = [];
  for (const [at, name] of names.entries()) files.push(await upload(hub.admin, name, `content ${at}`));
  files.push(await upload(hub.admin, "red.png", RED));
  const sums = files.map(({ sha256 }) => sha256);
  await hub.admin.say("general", "all of them", { attachments: sums });
  // The same again under another name is the same.
  await upload(hub.admin, "also red.png", RED);
  await page.reload();
  const table = page.getByRole("region", { name: "Attachments" });
  await table.getByRole("button", { name: "Open also red.png" }).waitFor();
  equal(await table.getByRole("row").count(), 5, "how many lines there are, with their head");
  await table.getByRole("link", { name: "#general" }).first().waitFor();
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= screen.width), true, "whether the list fits");
  await watcher.checkAccess(page, "the list of files");
  await table.getByRole("link", { name: "#general" }).first().click();
  const row = article(page, "all of them");
  await row.getByRole("link", { name: "Download gpj.txt" }).waitFor();
  equal(await page.evaluate(() => [window.hit ?? null, document.documentElement.scrollWidth <= screen.width]), [null, true], "what ran, and whether it fits");
  equal(await row.evaluate((one) => one.scrollWidth <= one.clientWidth), true, "whether long names fit");
  await watcher.checkAccess(page, "files on a phone");
}

/** A picture that would take gigabytes of memory is a file: the browser decodes it only if somebody asks twice. */
export async function hugePicture({ hub, watcher }) {
  const huge = await upload(hub.admin, "huge.png", picture([0, 0, 0], [30_000, 30_000], true));
  const usual = await upload(hub.admin, "usual.png", RED);
  await hub.admin.say("general", "look at these", { attachments: [huge.sha256, usual.sha256] });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/general`);
  const message = article(page, "look at these");
  await until("the usual one is drawn", () => message.locator("img").evaluateAll((all) => all.length === 1 && all[0].naturalWidth === 300));
  await message.getByRole("link", { name: "Download huge.png" }).waitFor();
  equal(await message.locator("img").count(), 1, "pictures that are drawn");
  await message.getByRole("button", { name: "Open huge.png" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Show image" }).waitFor();
  equal(await dialog.locator("img").count(), 0, "pictures that are drawn in large");
  await watcher.checkAccess(page, "a picture that is very large");
  await page.keyboard.press("ArrowRight");
  await until("the usual one is drawn in large", () => dialog.locator("img").evaluateAll((all) => all.length === 1 && all[0].naturalWidth === 300));
}
