// Every page on small screens, twice as large, and with the colours of the system.

import { readFileSync } from "node:fs";
import { enliven } from "../lively.mjs";
import { equal, until } from "./frame.mjs";

/** They lead elsewhere, or need a program that has run; journeys of their own look at those. */
const ELSEWHERE = ["/", "/operate", "/settings", "/runs/$id"];

const addresses = ({ question }) => [
  "/inbox",
  "/threads",
  "/channels",
  "/channels/release-notes",
  `/channels/release-notes?thread=${question.id}`,
  "/channels/leads",
  "/channels/release-notes/board",
  "/channels/release-notes/settings",
  "/board",
  "/dm/scribe",
  "/agents",
  "/agents/scout",
  "/agents/scout?tab=connect",
  "/people/mira",
  "/welcome",
  "/traces",
  "/deliveries",
  "/runs",
  "/automation",
  "/search?q=import",
  "/attachments",
  "/admin",
  "/settings/profile",
  "/settings/keys",
  "/settings/apps",
  "/settings/hooks",
  "/settings/notifications",
  "/settings/appearance",
  "/nowhere",
];

/** Routes that are not among the addresses. */
function forgotten(visited) {
  const source = readFileSync(new URL("../../../web/src/router.ts", import.meta.url), "utf8");
  const routes = [...source.matchAll(/\bpath: "([^"]+)"/g)].map(([, path]) => path).filter((path) => !ELSEWHERE.includes(path));
  const paths = visited.map((address) => address.split("?")[0]);
  return routes.filter((route) => !paths.some((path) => new RegExp(`${route.replaceAll(/\$\w+/g, "[^/]+")}$`).test(path)));
}

/** What one could press and that lies outside the window or is cut off by what it is in, except where one can scroll to it. */
const cutOff = (page) =>
  page.evaluate(() => {
    const found = document.documentElement.scrollWidth > innerWidth ? ["the page is wider than the window"] : [];
    for (const element of document.querySelectorAll("a, button, input, select, textarea, summary")) {
      const box = element.getBoundingClientRect();
      // What is only for screen readers is a dot.
      if (!element.checkVisibility() || box.width <= 1 || element.closest(".sr-only")) continue;
      const isWithin = (left, right) => box.left >= left - 1 && box.right <= right + 1;
      let [isCut, isScrolled] = [false, false];
      for (let around = element.parentElement; around && !isScrolled; around = around.parentElement) {
        const { overflowX } = getComputedStyle(around);
        if (overflowX === "visible") continue;
        isScrolled = overflowX !== "hidden" && overflowX !== "clip" && around.scrollWidth > around.clientWidth;
        const edge = around.getBoundingClientRect();
        if (!isScrolled && !isWithin(edge.left, edge.right)) isCut = true;
      }
      if (isCut || (!isScrolled && !isWithin(0, innerWidth))) found.push(element.outerHTML.slice(0, 200));
    }
    return found;
  });

/** No page scrolls sideways or cuts anything off, on a phone and twice as large, and axe finds no barrier, light and dark. */
export async function everyRoute({ hub, watcher }) {
  watcher.allow(/404/);
  const visited = addresses(await enliven(hub));
  equal(forgotten(visited), [], "routes that nobody looked at");
  const sizes = [
    { name: "on a phone", width: 360, height: 740, colorScheme: "light" },
    { name: "twice as large", width: 640, height: 450, colorScheme: "dark" },
  ];
  // Each size has a window of its own, and both go at the same time.
  await Promise.all(
    sizes.map(async ({ name, width, height, colorScheme }) => {
      const isPhone = width === 360;
      const options = { viewport: { width, height }, colorScheme, deviceScaleFactor: 2, isMobile: isPhone, hasTouch: isPhone };
      const page = await watcher.page(await watcher.window(hub.admin, options));
      for (const address of visited) {
        await page.goto(hub.url + address);
        await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" });
        await until("everything is loaded", async () => (await page.locator("[aria-busy=true]").count()) === 0);
        for (const fault of await cutOff(page)) watcher.note(`${address} ${name}: cut off: ${fault}`);
        await watcher.checkAccess(page, `${address} ${name}, ${colorScheme}`);
      }
    }),
  );
}

/** With the colours of the system, one sees the focus, who is online, what is switched on and where one is. */
export async function systemColours({ hub, watcher }) {
  await hub.agent("scout");
  await hub.admin.call("POST", "/api/channels", { name: "work" });
  await hub.admin.call("PUT", "/api/channels/work/settings", { workflow_enabled: true });
  const page = await watcher.page(await watcher.window(hub.admin));
  await page.goto(`${hub.url}/channels/work/settings`);
  const style = (locator, property) => locator.evaluate((element, name) => getComputedStyle(element)[name], property);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, forcedColors: "active" });
    const background = await style(page.locator("body"), "backgroundColor");
    const differs = async (locator, property, what) => equal((await style(locator, property)) !== background, true, `whether ${what} shows, ${colorScheme}`);
    await differs(page.locator("nav [data-presence]").first(), "color", "the presence of an agent");
    const [on, off] = ["Workflow", "Auto-approve trusted agents"].map((name) => page.getByRole("switch", { name, exact: true }).locator("span span"));
    await differs(on, "backgroundColor", "a switch that is on");
    await differs(off, "backgroundColor", "a switch that is off");
    equal((await style(on, "backgroundColor")) !== (await style(off, "backgroundColor")), true, `whether on differs from off, ${colorScheme}`);
    await page.getByRole("textbox", { name: "Topic" }).focus();
    await page.keyboard.press("Shift+Tab");
    const focused = page.locator(":focus-visible");
    equal([await style(focused, "outlineStyle"), await style(focused, "outlineWidth")], ["solid", "2px"], `the line around the focus, ${colorScheme}`);
    await differs(focused, "outlineColor", "the focus");
    await watcher.checkAccess(page, `settings of a channel with the colours of the system, ${colorScheme}`);
  }
  equal(await page.getByRole("main").locator("[aria-current=page]").count(), 0, "what the settings call the current page");
}
