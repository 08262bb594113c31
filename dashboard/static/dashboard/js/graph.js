// The graph by keyboard: arrows go from vertex to vertex, Escape closes the vertex that is open.

const box = () => document.querySelector(".graph-box");

function middle(link) {
  const { left, top, width, height } = link.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}

const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

// The nearest vertex that way: what is straight ahead counts before what is aside.
function next(from, [dx, dy]) {
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const link of box().querySelectorAll("svg a")) {
    const [toX, toY] = middle(link);
    const ahead = (toX - x) * dx + (toY - y) * dy;
    const aside = Math.abs((toX - x) * dy) + Math.abs((toY - y) * dx);
    if (link === from || ahead <= 1) continue;
    const far = ahead + 2 * aside;
    if (far < least) [best, least] = [link, far];
  }
  return best;
}

document.addEventListener("keydown", (event) => {
  const link = event.target.closest?.(".graph-box svg a");
  if (link && event.key in WAYS) {
    event.preventDefault();
    const found = next(link, WAYS[event.key]);
    found?.focus();
    found?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  const typing = event.target.closest?.("input, select, textarea, dialog");
  if (event.key === "Escape" && !typing) document.querySelector("[data-close-vertex]")?.click();
});

// A chosen vertex further right than the window is wide comes into sight.
const chosen = document.querySelector(".graph-box svg a[aria-current]");
if (chosen) {
  const around = box();
  const { left, width } = chosen.getBoundingClientRect();
  around.scrollLeft += left + width / 2 - around.getBoundingClientRect().left - around.clientWidth / 2;
}
