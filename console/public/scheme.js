// Before the first paint: the colours that were chosen, or else those of the system.
(() => {
  var chosen = "auto";
  try {
    chosen = localStorage.getItem("scorewright-color-scheme") || "auto";
  } catch {
    // Storage may be forbidden; the system's colours are right then.
  }
  var isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  var scheme = chosen === "auto" ? (isDark ? "dark" : "light") : chosen;
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
})();
