// The pages that the hub renders itself, in a browser: node pages.mjs SETTINGS
//
// First every page is looked at: light and dark, narrow and wide. Then a person goes through them, with the keyboard and
// without JavaScript, until they are back at the app that asked. SETTINGS is a file of scripts/check-pages.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const settings = JSON.parse(readFileSync(process.argv[2], "utf8"));
const failures = [];
const patience = 20_000;

/** Notes when something is not so. */
function check(what, holds, found) {
  if (!holds) {
    failures.push(found === undefined ? what : `${what}: ${JSON.stringify(found)}`);
  }
}

// ---- The hub, as its REST API sees it

async function call(method, path, body, headers = {}) {
  const encoded = body && (body instanceof URLSearchParams ? body : JSON.stringify(body));
  const type = body && !(body instanceof URLSearchParams) ? { "Content-Type": "application/json" } : {};
  const answer = await fetch(settings.url + path, {
    method,
    headers: { ...type, ...headers },
    body: encoded,
    redirect: "manual",
    signal: AbortSignal.timeout(patience),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text ? JSON.parse(text) : undefined };
}

async function callOrFail(...request) {
  const answer = await call(...request);
  if (answer.status >= 400) {
    throw new Error(`${request[0]} ${request[1]}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer;
}

async function logIn(username) {
  const answer = await callOrFail("POST", "/auth/login", { username, password: settings.password });
  const [name, value] = answer.headers.getSetCookie()[0].split(";")[0].split("=");
  return { name, value, url: settings.url };
}

const register = async (client_name, redirect_uri) => {
  const metadata = { client_name, redirect_uris: [redirect_uri], token_endpoint_auth_method: "none" };
  const { client_id } = (await callOrFail("POST", "/oauth/register", metadata)).body;
  return { client_id, redirect_uri };
};

/** A question of an app to a person: where it begins, and what the app must remember of it. */
function question(client, scope = "mcp:read mcp:write") {
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(8).toString("hex");
  const query = new URLSearchParams({
    ...client,
    response_type: "code",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    scope,
    state,
  });
  return { client, verifier, state, url: `${settings.url}/oauth/authorize?${query}` };
}

// ---- The apps, which only say that one has arrived

const answer = (request, response) => {
  response.setHeader("Content-Type", "text/html");
  if (request.url.startsWith("/control")) {
    response.setHeader("Content-Security-Policy", "default-src 'none'");
    response.end("<!doctype html><title>Control</title><style>p { color: red }</style>");
  } else if (request.url.startsWith("/client.json")) {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(description));
  } else {
    response.end('<!doctype html><html lang="en"><title>Back</title><p>You are back at the app.');
  }
};
const listen = (server, address) =>
  new Promise((resolve, reject) => server.once("error", reject).listen(0, address, () => resolve(server.address().port)));
const servers = [
  createServer(answer),
  createSecureServer({ cert: readFileSync(settings.certificate), key: readFileSync(settings.key) }, answer),
  createServer(answer),
];
const near = `http://127.0.0.1:${await listen(servers[0], "127.0.0.1")}`;
const securePort = await listen(servers[1], "127.0.0.1");
const description = {
  client_id: `https://localhost:${securePort}/client.json`,
  client_name: "Described",
  redirect_uris: ["https://app.example/described"],
};
// Not every machine has IPv6.
const nearSix = await listen(servers[2], "::1").then((port) => `http://[::1]:${port}`, () => undefined);

// ---- The browser

// The sandbox of Chromium does not work for root, and it opens nothing here but pages of the hub and of this script.
const browser = await chromium.launch({
  executablePath: settings.chromium,
  chromiumSandbox: false,
  args: ["--no-proxy-server", `--host-resolver-rules=MAP app.example:443 127.0.0.1:${securePort}`],
});

/** A fresh browser window, that notes what goes wrong in it. */
async function open({ cookie, ...options }) {
  const context = await browser.newContext({ javaScriptEnabled: false, ignoreHTTPSErrors: true, ...options });
  context.setDefaultTimeout(patience);
  if (cookie) {
    await context.addCookies([cookie]);
  }
  const page = await context.newPage();
  const complaints = [];
  // A page that refuses something has the status of a refusal, which the console calls an error.
  const isStatus = (text) => /^Failed to load resource: the server responded with a status of 4\d\d/.test(text);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !isStatus(message.text())) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  const session = await context.newCDPSession(page);
  session.on("Audits.issueAdded", ({ issue }) => {
    if (issue.code === "ContentSecurityPolicyIssue") {
      complaints.push(JSON.stringify(issue.details.contentSecurityPolicyIssueDetails));
    }
  });
  await session.send("Audits.enable");
  return { context, page, complaints };
}

const focused = (page) => page.evaluate(() => [document.activeElement?.name, document.activeElement?.value]);
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const screenshot = async (page, name, options) => {
  if (settings.screenshots) {
    await page.screenshot({ path: join(settings.screenshots, `${name}.png`), fullPage: true, ...options });
  }
};

async function press(page, key, isThere) {
  for (let times = 0; times < 60; times += 1) {
    if (isThere(await focused(page))) {
      return;
    }
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead there; the focus is on ${await focused(page)}`);
}

// ---- What there is to see

const [mira, lena, admin] = await Promise.all(["mira", "lena", "admin"].map(logIn));
const as = (cookie) => ({ Cookie: `${cookie.name}=${cookie.value}` });
for (const [name, archetype, display_name] of [
  ["scout", "researcher"],
  ["scribe", "writer", "The Scribe"],
  ["critic", "commenter"],
]) {
  await callOrFail("POST", "/api/agents", { name, archetype, display_name }, as(mira));
}
for (let number = 1; number <= 40; number += 1) {
  await callOrFail("POST", "/api/agents", { name: `worker-${number}`, archetype: "operator" }, as(lena));
}

const hostileName = `"><script>alert(1)</script> \u202eedoC edualC “Z${"\u0301".repeat(20)}” ${"W".repeat(110)}`;
const apps = {
  near: await register("Claude Code", `${near}/callback`),
  named: await register("Reading Room", "https://app.example/callback"),
  hostile: await register(hostileName, `https://${"very-long-name-".repeat(3)}of-a-host.example:65535/callback`),
  described: { client_id: description.client_id, redirect_uri: description.redirect_uris[0] },
  private: await register("Cursor", "cursor://anysphere.cursor-mcp/oauth/callback"),
};
const wrongPassword = (await call("POST", "/auth/login", { username: "nobody", password: "wrong password" })).body.detail;

async function fillIn(page, username, password) {
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password").fill(password);
}

const goTo = (url) => (page) => page.goto(url);
let visitors = 0;
const views = [
  { name: "login", status: 200, show: goTo(`${settings.url}/login`), heading: "Log in" },
  {
    name: "login for an app",
    status: 200,
    show: goTo(question(apps.near).url),
    heading: "Log in",
    text: "Log in to continue to the app.",
  },
  {
    name: "login failed",
    status: 401,
    show: async (page) => {
      await page.goto(`${settings.url}/login`);
      visitors += 1;
      await fillIn(page, `visitor_${visitors}`, "wrong password");
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === "POST"),
        page.getByRole("button", { name: "Log in" }).click(),
      ]);
      await page.getByRole("alert").waitFor();
      return answer;
    },
    heading: "Log in",
    text: wrongPassword,
  },
  {
    name: "consent",
    cookie: mira,
    show: goTo(question(apps.near).url),
    heading: "Let “Claude Code” act for you?",
    text: "Any app on this computer could have sent this request.",
  },
  {
    name: "consent to read",
    cookie: mira,
    show: goTo(question(apps.named, "mcp:read").url),
    heading: "Let “Reading Room” act for you?",
    text: "This app cannot send messages",
  },
  {
    name: "consent to a described app",
    cookie: mira,
    show: goTo(question(apps.described).url),
    heading: "Let “Described” act for you?",
    text: "Verified by",
  },
  { name: "consent without agents", cookie: admin, show: goTo(question(apps.named).url), text: "that you can see" },
  { name: "consent to a hostile app", cookie: mira, show: goTo(question(apps.hostile).url), text: "<script>alert(1)</script>" },
  { name: "consent with many agents", cookie: lena, show: goTo(question(apps.private).url), text: "cursor://" },
  {
    name: "refusal",
    cookie: mira,
    status: 400,
    show: goTo(question({ ...apps.near, client_id: "unknown" }).url),
  },
];

/** Shows an open page in light and dark, narrow and wide. The style sheet alone decides about these, so it stays open. */
async function inEachLook(view, page, check) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: width > 1000 ? 900 : 740 });
      await check(`${view.name}, ${colorScheme}, ${width} px`, colorScheme, width);
    }
  }
}

async function look(view) {
  const { context, page, complaints } = await open({ cookie: view.cookie });
  const response = await view.show(page);
  check(`${view.name}: status`, response.status() === (view.status ?? 200), response.status());
  check(`${view.name}: title`, (await page.title()).endsWith(" · Stoa"), await page.title());
  check(`${view.name}: elements that run or style`, (await page.locator("script, [style], link, img, iframe").count()) === 0);
  await inEachLook(view, page, async (name, colorScheme, width) => {
    const headings = await page.locator("h1").allInnerTexts();
    check(`${name}: heading`, headings.length === 1 && headings[0].includes(view.heading ?? ""), headings);
    const text = await page.locator("main").innerText();
    check(`${name}: text`, text.includes(view.text ?? ""), text);
    check(`${name}: wider than the window`, (await overflow(page)) === 0, await overflow(page));
    await screenshot(page, `${view.name.replaceAll(" ", "-")}-${colorScheme}-${width}`);
    if (width < 1000) {
      await page.setViewportSize({ width: 320, height: 740 });
      check(`${name}: wider than 320 px`, (await overflow(page)) === 0, await overflow(page));
    }
  });
  check(`${view.name}: complaints`, complaints.length === 0, complaints);
  await context.close();

  // The same with JavaScript, for axe needs it.
  const scripted = await open({ cookie: view.cookie, javaScriptEnabled: true });
  await view.show(scripted.page);
  await inEachLook(view, scripted.page, async (name) => {
    // There are no frames of other origins. For those axe would open a second page at each call, and load itself there, too.
    const axe = new AxeBuilder({ page: scripted.page })
      .setLegacyMode(true)
      .options({ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } });
    for (const violation of (await axe.analyze()).violations) {
      failures.push(`${name}: ${violation.id}: ${violation.nodes.map((node) => node.failureSummary).join(" ")}`);
    }
  });
  check(`${view.name}: complaints with JavaScript`, scripted.complaints.length === 0, scripted.complaints);
  await scripted.context.close();
}

// ---- What a person does

/** Has the app got what it waits for? Then what it got. */
async function arrive(page, asked, expected) {
  await page.waitForURL((url) => url.href.startsWith(asked.client.redirect_uri));
  const given = Object.fromEntries(new URL(page.url()).searchParams);
  const { code, ...others } = given;
  const wanted = { ...expected, state: asked.state, iss: settings.url };
  check("what the app was given", Object.entries(wanted).every(([name, value]) => others[name] === value), given);
  check("whether there is a code", Boolean(code) === !expected.error, given);
  return code;
}

const journeys = {
  async "log in, choose an agent and approve with the keyboard"(page) {
    const asked = question(apps.near);
    await page.goto(asked.url);
    check("the focus of the login", (await focused(page))[0] === "username", await focused(page));
    await page.keyboard.type("mira");
    await page.keyboard.press("Tab");
    await page.keyboard.type("wrong password");
    await page.keyboard.press("Enter");
    const alert = await page.getByRole("alert").innerText();
    check("what is said about a wrong password", alert === wrongPassword, alert);
    check("the username that is kept", (await page.getByLabel("Username").inputValue()) === "mira");
    const [field, value] = await focused(page);
    check("the focus after a wrong password", field === "password" && value === "", [field, value]);
    await page.keyboard.type(settings.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Let “Claude Code” act for you?" }).waitFor();
    check("who is signed in", (await page.getByText("Signed in as").innerText()).includes("mira"));

    await press(page, "Tab", ([name]) => name === "agent");
    await press(page, "ArrowDown", ([name, chosen]) => name === "agent" && chosen === "scribe");
    check("what is chosen", await page.getByRole("radio", { name: "scribe" }).isChecked());
    await screenshot(page, "keyboard");
    await page.keyboard.press("Tab");
    check("the focus after the choice", (await focused(page))[1] === "approve", await focused(page));
    await page.keyboard.press("Enter");
    const code = await arrive(page, asked, {});

    const { verifier: code_verifier, client } = asked;
    const exchange = { grant_type: "authorization_code", code, code_verifier, ...client };
    await callOrFail("POST", "/oauth/token", new URLSearchParams(exchange));
    const { items } = (await callOrFail("GET", "/api/oauth/grants", undefined, as(mira))).body;
    const grants = items.filter((grant) => grant.client.client_id === client.client_id);
    check("the agent of the grant", grants.length === 1 && grants[0].agent === "scribe", items);

    const again = await page.goBack();
    check("the page of a decided question", again.status() === 400, again.status());
    check("what it says", (await page.locator("h1").innerText()) === "This request has expired", await page.content());
  },

  async "deny an app with a name"(page, context) {
    await context.addCookies([mira]);
    const asked = question(apps.named);
    await page.goto(asked.url);
    await press(page, "Tab", ([, value]) => value === "deny");
    await page.keyboard.press("Enter");
    await arrive(page, asked, { error: "access_denied" });
  },

  async "approve an app with a name, as oneself"(page, context) {
    await context.addCookies([mira]);
    const asked = question(apps.named, "mcp:read");
    await page.goto(asked.url);
    await page.getByRole("radio", { name: "Yourself" }).check();
    await page.getByRole("button", { name: "Approve" }).click();
    await arrive(page, asked, {});
  },

  async "approve without an agent to choose"(page, context) {
    await context.addCookies([admin]);
    const asked = question(apps.named);
    await page.goto(asked.url);
    check("that oneself is chosen", await page.getByRole("radio").isChecked());
    await page.getByRole("button", { name: "Approve" }).click();
    await arrive(page, asked, {});
  },

  async "approve an app at IPv6"(page, context) {
    if (nearSix) {
      await context.addCookies([mira]);
      const asked = question(await register("Six", `${nearSix}/callback`));
      await page.goto(asked.url);
      await page.getByRole("radio", { name: "critic" }).check();
      await page.getByRole("button", { name: "Approve" }).click();
      await arrive(page, asked, {});
    }
  },

  async "approve an app with a scheme of its own, as one of many agents"(page, context) {
    await context.addCookies([lena]);
    await page.goto(question(apps.private).url);
    await press(page, "Tab", ([name]) => name === "agent");
    await press(page, "ArrowDown", ([, value]) => value === "worker-20");
    const chosen = page.getByRole("radio", { name: "worker-20" });
    const isInSight = await chosen.evaluate((radio) => {
      const [own, list] = [radio.getBoundingClientRect(), radio.closest(".agents").getBoundingClientRect()];
      return own.top >= list.top && own.bottom <= list.bottom;
    });
    check("that the list follows the keyboard", isInSight);
    await screenshot(page, "keyboard-many");
    const [decision] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith("/oauth/authorize/decision")),
      page.getByRole("button", { name: "Approve" }).click(),
    ]);
    const location = (await decision.headerValue("location")) ?? "";
    check("where it leads", decision.status() === 303 && location.startsWith(apps.private.redirect_uri), location);
  },

  async "not you?"(page, context) {
    await context.addCookies([await logIn("mira")]);
    const asked = question(apps.near);
    await page.goto(asked.url);
    await page.getByRole("button", { name: "not you?" }).click();
    await fillIn(page, "lena", settings.password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("Signed in as lena").waitFor();
    check("the agents of somebody else", (await page.getByRole("radio", { name: "scout" }).count()) === 0);
    await page.getByRole("radio", { name: "worker-7" }).check();
    await page.getByRole("button", { name: "Approve" }).click();
    await arrive(page, asked, {});
  },
};

// What is looked for would be found.
const control = await open({});
await control.page.goto(`${near}/control`);
check("A page that breaks its policy is not noticed", control.complaints.length > 0);
await control.context.close();

for (const view of views) {
  await look(view).catch((error) => failures.push(`${view.name}: ${error}`));
}

for (const [name, journey] of Object.entries(journeys)) {
  const { context, page, complaints } = await open({ viewport: { width: 1280, height: 900 } });
  const before = failures.length;
  await journey(page, context).catch((error) => failures.push(`${error}, at ${page.url()}`));
  check("complaints", complaints.length === 0, complaints);
  failures.splice(before, failures.length, ...failures.slice(before).map((failure) => `${name}: ${failure}`));
  await context.close();
}

await browser.close();
for (const server of servers) {
  server.close();
  server.closeAllConnections();
}
for (const failure of failures) {
  console.error(`pages.mjs: ${failure}`);
}
process.exitCode = failures.length ? 1 : 0;
