// Before the first paint, and so in a file of its own: sets what the person has chosen.
(() => {
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
