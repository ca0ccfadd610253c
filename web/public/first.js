// What cannot wait for the page's scripts, and so is a file of its own.
(() => {
  // What the page will ask for first is asked for now. `src/api/ahead.ts` takes the answers.
  const [, kind, name] = location.search.includes("as=") ? [] : (/^\/(channels|dm)\/([A-Za-z0-9_-]+)\/?$/.exec(location.pathname) ?? []);
  const paths = ["/auth/me"];
  if (kind) paths.push(`/api/${kind}/${name}/messages?limit=50`);
  if (kind === "channels") paths.push(`/api/channels/${name}`);
  window.ahead = { kind, name, answers: new Map(paths.map((path) => [location.origin + path, fetch(path)])) };
  // One that nobody takes any more is no error of the page.
  for (const answer of window.ahead.answers.values()) answer.catch(() => undefined);

  // How the person wants the page to look, before the first paint.
  let chosen = {};
  try {
    chosen = JSON.parse(localStorage.getItem("stoa.appearance") ?? "{}");
  } catch {
    // What cannot be read is as good as nothing.
  }
  const root = document.documentElement;
  const isDark =
    chosen.theme === "dark" || (chosen.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.classList.toggle("dark", isDark);
  // What a phone puts around the page.
  document.querySelector("meta[name=theme-color]")?.setAttribute("content", isDark ? "#1b1f26" : "#f3f5f8");
  root.dataset.density = chosen.density === "compact" ? "compact" : "comfortable";
  root.dataset.text = ["small", "large"].includes(chosen.text) ? chosen.text : "medium";
})();
