// A hub where something goes on: people, agents, channels, work in every state, threads, files, mentions. For pictures and for trying out.

import { deflateSync } from "node:zlib";

/** A picture, small and made here: a gradient, as a PNG. */
function picture(width, height) {
  const rows = [];
  for (let y = 0; y < height; y++) {
    const row = Buffer.alloc(1 + width * 3);
    for (let x = 0; x < width; x++) {
      row[1 + x * 3] = 40 + Math.round((x / width) * 120);
      row[2 + x * 3] = 80 + Math.round((y / height) * 120);
      row[3 + x * 3] = (Math.floor(x / 40) + Math.floor(y / 40)) % 2 ? 210 : 180;
    }
    rows.push(row);
  }
  const table = Array.from({ length: 256 }, (_, at) => {
    let value = at;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value >>> 0;
  });
  const sum = (bytes) => ~bytes.reduce((now, byte) => table[(now ^ byte) & 255] ^ (now >>> 8), 0xffffffff) >>> 0;
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(sum(body));
    return Buffer.concat([length, body, check]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const sign = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([sign, chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.concat(rows))), chunk("IEND", Buffer.alloc(0))]);
}

/** Uploads a file, and returns its sum. */
export async function upload(caller, name, content, type) {
  const form = new FormData();
  form.set("file", new Blob([content], { type }), name);
  const headers = caller.key ? { Authorization: `Bearer ${caller.key}` } : { Cookie: caller.cookie };
  const answer = await fetch(`${caller.hub.url}/api/attachments`, { method: "POST", headers, body: form });
  if (!answer.ok) throw new Error(`${name} could not be uploaded: ${await answer.text()}`);
  return (await answer.json()).sha256;
}

/** Fills a hub. Returns what pictures point at. */
export async function enliven(hub) {
  const { admin } = hub;
  const [mira, jonas] = [await hub.person("mira"), await hub.person("jonas")];
  const agents = {};
  for (const [name, label] of [["scout", "Scout"], ["scribe", "Scribe"], ["herald", "Herald"], ["auditor", "Auditor of the release train"]]) {
    agents[name] = await hub.agent(name, label);
  }
  const { scout, scribe, herald, auditor } = agents;
  const react = (who, message, reaction, metadata) => who.call("POST", `/api/messages/${message.id}/reactions`, { reaction, metadata });
  const channel = async (name, topic, members, more = {}) => {
    await admin.call("POST", "/api/channels", { name, topic, ...more });
    for (const member of members) await member.call("POST", `/api/channels/${name}/join`);
  };
  await channel("release-notes", "One message per section of the 2.8 notes", [scout, scribe, herald, mira, jonas]);
  await channel("incidents", "What is broken, and who mends it", [scout, auditor, mira]);
  await channel("a-channel-with-quite-a-long-name-for-a-sidebar", "To see where it is cut off", [scout]);
  await channel("planning", "Next quarter, in the open", [mira, jonas, herald]);
  await admin.call("POST", "/api/channels", { name: "leads", topic: "Only for those who decide", public: false });
  await admin.call("PUT", "/api/channels/release-notes/settings", { workflow_enabled: true });
  await admin.call("PUT", "/api/channels/incidents/settings", { workflow_enabled: true });

  await admin.say("general", "Welcome. This hub is where the release of 2.8 is made.");
  await mira.say("general", "Good morning! The board for the notes is in #release-notes, and @scout has read all commits already.");
  await jonas.say("general", "שלום לכולם, אני כאן\n\nand in the other direction again.");

  const work = { action_type: "section" };
  await scout.say("release-notes", "Went through **61 commits** since 2.7.3. Fourteen change something that a user can see; they are in the sheet.", {
    attachments: [await upload(scout, "commits.txt", "a1b2c3 import: retry\nd4e5f6 search: phrases\n".repeat(40), "text/plain")],
  });
  const question = await admin.say("release-notes", "@scribe please write the import section from that sheet. Lead with retries: **23 tickets** asked for them.");
  await scribe.say("release-notes", "Draft, 46 words: when the connection drops, the import waits and goes on where it was.", { reply_to: question.id });
  await mira.say("release-notes", "Reads well. “Waits” for how long?", { reply_to: question.id });
  await scribe.say("release-notes", "Up to five times, 30 s apart. I will say so.", { reply_to: question.id });
  const sections = [];
  const texts = [
    [scribe, "Import: what happens when the connection drops", "The import now waits and goes on where it was, up to five times."],
    [scout, "Search: phrases and exclusions", "`\"exact words\"` and `-without` work in every search field."],
    [herald, "Announcement for the mailing list", "Three paragraphs, 180 words, no promises about dates."],
    [scribe, "Upgrade notes", "Stop the hub, replace the file, start it. Migrations run by themselves.\n\n```sh\nsystemctl stop stoa\ninstall stoa /usr/local/bin\nsystemctl start stoa\n```"],
    [scout, "Known problems", "| problem | since | way around |\n|---|---|---|\n| slow first search | 2.7 | wait a minute |\n| wrong zone in exports | 2.6 | use UTC |"],
    [herald, "Screenshots", "The new board, light and dark."],
    [scribe, "Thanks", "Names of everybody who sent a patch."],
  ];
  for (const [who, subject, body] of texts) sections.push(await who.say("release-notes", body, { subject, metadata: work }));
  const [imports, search, announcement, upgrade, problems, screens, thanks] = sections;
  await react(mira, imports, "approve");
  await react(admin, search, "approve");
  await react(scout, search, "in_progress", { eta: "noon" });
  await react(admin, announcement, "reject");
  await jonas.say("release-notes", "It promises a date in the second line after all.", { reply_to: announcement.id });
  await react(admin, upgrade, "approve");
  await react(scribe, upgrade, "in_progress");
  await react(scribe, upgrade, "done");
  await react(jonas, problems, "approve");
  await react(jonas, problems, "published");
  const images = [await upload(herald, "board-light.png", picture(640, 400), "image/png"), await upload(herald, "board-dark.png", picture(480, 300), "image/png")];
  await herald.say("release-notes", "Here they are, @admin. Which one goes first?", { reply_to: screens.id, attachments: images });
  await herald.say("release-notes", "Both pictures, for whoever does not open threads:", { attachments: images });
  await react(admin, thanks, "approve");
  await scribe.say("release-notes", "@admin fine for me to quote that number?");

  const outage = await scout.say("incidents", "Search answers slowly since 09:40: p99 is **2.1 s**, usual are 18 ms.", { metadata: { action_type: "incident" } });
  await react(auditor, outage, "in_progress");
  await auditor.say("incidents", "An export of traces held a snapshot for eleven minutes. It is gone now; watching.", { reply_to: outage.id });
  await auditor.say("incidents", "Certificate of the staging host ends in six days.", { metadata: { action_type: "incident" }, priority: 1 });

  await admin.dm("scribe", "Could you keep the notes under 600 words?");
  await scribe.dm("admin", "Section 1 is done, @admin. 412 words so far.");
  await scribe.dm("admin", "Two questions are left: the number of tickets, and whether the export is named.");
  await mira.dm("admin", "Can you look at the announcement before two?");
  await herald.dm("scribe", "May I take your import section as it is?");
  const own = await upload(admin, "agenda.txt", "1. Notes\n2. Date\n", "text/plain");
  await admin.say("planning", "Agenda for today", { attachments: [own] });

  await admin.call("POST", "/api/agents/auditor/pause").catch(() => undefined);
  for (let at = 0; at < 12; at++) await scout.call("GET", `/api/channels/release-notes/messages?limit=${at + 1}`);
  return { question, outage, imports };
}
