// What every page does: clocks, live regions, confirmations, menus that close.

import { startForms } from "./choosing.js";
import { startConfirm } from "./confirm.js";
import { startLive } from "./live.js";
import { startClocks } from "./times.js";

startClocks();
startLive();
startConfirm();
startForms();

// A table that is wider than its place is scrolled by the keyboard, too.
function reachTables() {
  for (const box of document.querySelectorAll(".tablebox")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
reachTables();
addEventListener("resize", reachTables);
document.addEventListener("headrace:news", reachTables);

document.querySelector(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

// What was asked for has been said; the page itself shows what came of it.
setTimeout(() => document.querySelectorAll(".message.is-ok").forEach((said) => said.remove()), 12_000);

const menu = document.querySelector("details.menu");
document.addEventListener("click", (event) => {
  if (menu?.open && !menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && menu?.open) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// "/" goes to the search, as in other tools; not while something is being typed.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.getElementById("quick")?.focus();
});
