// Colours as the system, light or dark: set before the first paint, so that nothing flashes.
(function () {
  const names = ["", "light", "dark"];
  const words = { "": "Colours: as the system", light: "Colours: light", dark: "Colours: dark" };
  const icons = { "": "half", light: "sun", dark: "moon" };
  const root = document.documentElement;

  function kept() {
    try {
      const name = localStorage.getItem("headrace-theme") || "";
      return names.includes(name) ? name : "";
    } catch {
      return ""; // storage is refused: the choice lasts for this page
    }
  }

  function show(name) {
    if (name) root.dataset.theme = name;
    else delete root.dataset.theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.title = words[name];
    button.querySelector(".sr").textContent = words[name];
    const use = button.querySelector("use");
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, "#" + icons[name]));
  }

  let name = kept();
  show(name);
  document.addEventListener("DOMContentLoaded", () => {
    show(name);
    document.getElementById("theme")?.addEventListener("click", () => {
      name = names[(names.indexOf(name) + 1) % names.length];
      try {
        localStorage.setItem("headrace-theme", name);
      } catch {
        // see kept()
      }
      show(name);
      document.dispatchEvent(new Event("headrace:theme"));
    });
  });
})();
