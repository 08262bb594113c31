// Charts of figures that the server keeps over time: of the cluster, a TaskManager, a JobManager.
// What each figure element shows stands in its data; the whole range is asked for again and again,
// so a page left open holds no more than it draws.

import { HEIGHT, axes, bytes, count, line, onTheme, powers, time, top } from "./plots.js";
import { serverNow } from "./times.js";

const EVERY = 10_000;
const SAY = { count, bytes, time, share: (v) => (v == null ? "–" : `${Math.round(v * 100)} %`) };

const box = document.querySelector("[data-history]");
const charts = [];
let range = box.querySelector("[aria-pressed=true]").dataset.range;
let answer = null;
let asked = 0;

async function load() {
  const number = ++asked;
  const glue = box.dataset.history.includes("?") ? "&" : "?";
  try {
    const got = await fetch(`${box.dataset.history}${glue}range=${range}`, { cache: "no-store" });
    if (!got.ok || number !== asked) return;
    answer = await got.json();
    draw();
  } catch {
    // The page says itself that the connection is lost.
  }
}

function build() {
  for (const { plot } of charts) plot.destroy();
  charts.length = 0;
  for (const figure of box.querySelectorAll("[data-names]")) {
    const names = figure.dataset.names.split(",");
    const labels = figure.dataset.labels.split(",");
    const say = SAY[figure.dataset.say];
    figure.querySelector(".plot")?.remove();
    figure.querySelector(".key")?.remove();
    const key = keyOf(labels);
    figure.querySelector("figcaption").append(key);
    const holder = document.createElement("div");
    holder.className = "plot";
    figure.append(holder);
    const chart = { figure, names, say, key, holder };
    chart.plot = new uPlot(options(chart, labels), [[], ...names.map(() => [])], holder);
    charts.push(chart);
  }
}

function keyOf(labels) {
  const key = document.createElement("span");
  key.className = "key";
  labels.forEach((label, i) => {
    const entry = document.createElement("span");
    const mark = document.createElement("i");
    mark.className = `s${i + 1}`;
    entry.append(mark, labels.length > 1 ? `${label} ` : "", document.createElement("b"));
    key.append(entry);
  });
  return key;
}

function options(chart, labels) {
  const least = chart.say === SAY.share ? 0.05 : 0;
  return {
    width: chart.holder.clientWidth || 300,
    height: HEIGHT,
    padding: [8, 10, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: "history" }, drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: {
      x: { time: true, range: () => [serverNow() / 1000 - (answer?.range ?? 900), serverNow() / 1000] },
      y: { range: (_, __, max) => [0, Math.max(top(max), least)] },
    },
    axes: axes(chart.say, () => answer?.range ?? 900, chart.say === bytes ? powers : undefined),
    series: [{}, ...labels.map((label, i) => line(label, i + 1, i === 0))],
    hooks: { setCursor: [(plot) => tell(chart, plot)] },
  };
}

// Columns over the times that any of the chart's figures is known at; a gap stays a gap.
function columns(names) {
  const times = new Set();
  const rows = names.map((name) => new Map((answer.names[name] ?? []).map((row) => [row[0], row[2]])));
  for (const own of rows) for (const at of own.keys()) times.add(at);
  const sorted = [...times].sort((a, b) => a - b);
  return [sorted.map((at) => at / 1000), ...rows.map((own) => sorted.map((at) => own.get(at) ?? null))];
}

function draw() {
  for (const chart of charts) {
    const data = columns(chart.names);
    chart.plot.setData(data);
    sayNothing(chart.figure, data[0].length === 0);
    if (chart.plot.cursor.idx == null) tell(chart, chart.plot);
  }
}

function tell(chart, plot) {
  const at = plot.cursor.idx;
  chart.names.forEach((_, i) => {
    const column = plot.data[i + 1];
    const value = at == null ? column?.findLast((v) => v != null) : column?.[at];
    chart.key.children[i].querySelector("b").textContent = chart.say(value);
  });
}

function sayNothing(figure, bare) {
  figure.classList.toggle("is-bare", bare);
  figure.querySelector(".none")?.remove();
  if (!bare) return;
  const none = document.createElement("p");
  none.className = "none";
  none.textContent = "Nothing in this range";
  figure.append(none);
}

function rebuild() {
  build();
  if (answer) draw();
}

box.addEventListener("click", (event) => {
  const button = event.target.closest("[data-range]");
  if (!button) return;
  range = button.dataset.range;
  for (const other of box.querySelectorAll("[data-range]")) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  load();
});
new ResizeObserver(() => {
  for (const { plot, holder } of charts) {
    if (holder.clientWidth && holder.clientWidth !== plot.width) {
      plot.setSize({ width: holder.clientWidth, height: HEIGHT });
    }
  }
}).observe(box);
onTheme(rebuild);
build();
load();
setInterval(() => document.hidden || load(), EVERY);
document.addEventListener("visibilitychange", () => document.hidden || load());
