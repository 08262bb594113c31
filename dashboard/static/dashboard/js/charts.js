// The charts of a job: bounded columns from the server, drawn by uPlot, kept up to date.

import { Columns } from "./columns.js";
import { HEIGHT, axes, bytes, colour, count, line, onTheme, powers, time, top } from "./plots.js";
import { serverNow } from "./times.js";

const box = document.getElementById("charts");
const LEAST_SECONDS = 120;

const CHARTS = {
  in: { say: count, series: [["records", "records_in", 1]] },
  out: { say: count, series: [["records", "records_out", 2]] },
  latency: { say: time, series: [["p50", "p50", 1], ["p99", "p99", 3]] },
  lag: { say: count, series: [["records", "lag", 3]] },
  duration: { say: time, series: [["duration", "duration", 1]] },
  state: { say: bytes, series: [["size", "state_size", 1]], steps: powers },
};

// --- data ---------------------------------------------------------------------------------------

const data = new Columns();
let range = box.querySelector("[aria-pressed=true]").dataset.range;
let asked = 0; // number of the newest request: answers to older ones are dropped
let askedAt = 0;
let newest = null; // newest checkpoint that there is
let shown = null; // and that was asked for

async function load(fresh) {
  const number = ++asked;
  askedAt = Date.now();
  const query = new URLSearchParams({ range });
  if (!fresh && data.newest !== null) query.set("after", data.newest);
  try {
    const answer = await fetch(`${box.dataset.series}?${query}`, { cache: "no-store" });
    if (!answer.ok || number !== asked) return;
    const found = await answer.json();
    data.take(found, fresh || found.whole);
    draw();
  } catch {
    // The page says itself that the connection is lost; the next news asks again.
  }
}

// --- drawing --------------------------------------------------------------------------------------

const charts = [];

function build() {
  for (const { plot } of charts) plot.destroy();
  charts.length = 0;
  for (const figure of box.querySelectorAll("[data-chart]")) {
    const spec = CHARTS[figure.dataset.chart];
    figure.querySelector(".plot")?.remove();
    figure.querySelector(".key")?.remove();
    const key = keyOf(spec);
    figure.querySelector("figcaption").append(key);
    const holder = document.createElement("div");
    holder.className = "plot";
    figure.append(holder);
    const plot = new uPlot(options(spec, key, holder), [[], ...spec.series.map(() => [])], holder);
    charts.push({ plot, spec, key, figure, holder });
  }
}

function keyOf(spec) {
  const key = document.createElement("span");
  key.className = "key";
  for (const [label, , tone] of spec.series) {
    const entry = document.createElement("span");
    const mark = document.createElement("i");
    mark.className = `s${tone}`;
    entry.append(mark, spec.series.length > 1 ? `${label} ` : "", document.createElement("b"));
    key.append(entry);
  }
  return key;
}

function options(spec, key, holder) {
  return {
    width: holder.clientWidth || 300,
    height: HEIGHT,
    padding: [8, 10, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: "job" }, drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: { x: { time: true, range: () => xRange() }, y: { range: (_, __, max) => [0, top(max)] } },
    axes: axes(spec.say, () => data.seconds, spec.steps),
    series: [{}, ...spec.series.map(([label, , tone], i) => line(label, tone, i === 0))],
    hooks: { setCursor: [(plot) => say(plot, spec, key)], draw: [markAttempts] },
  };
}

// The range up to now; of a young job, what there is of it.
function xRange() {
  const now = serverNow() / 1000;
  const begun = Math.min(data.table?.t[0] ?? now, ...data.attempts.values());
  const young = Math.min(begun - 5, now - LEAST_SECONDS);
  return [Math.max(now - data.seconds, young), now];
}

// Values under the cursor, or the last ones.
function say(plot, spec, key) {
  const at = plot.cursor.idx;
  spec.series.forEach((_, i) => {
    const column = plot.data[i + 1];
    const value = at == null ? column?.findLast((v) => v != null) : column?.[at];
    key.children[i].querySelector("b").textContent = spec.say(value);
  });
}

// A dashed line where an attempt began: a restart explains a gap.
function markAttempts(plot) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour("warn");
  ctx.setLineDash([4, 4]);
  for (const at of data.attempts.values()) {
    const x = Math.round(plot.valToPos(at, "x", true)) + 0.5;
    if (x < bbox.left + 2 || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function draw() {
  for (const { plot, spec, key, figure } of charts) {
    const columns = spec.series.map(([, name]) => data.table[name]);
    const bare = !columns.some((column) => column.some((v) => v != null));
    plot.setData([data.table.t, ...columns]);
    sayNothing(figure, bare);
    if (plot.cursor.idx == null) say(plot, spec, key);
  }
}

function sayNothing(figure, bare) {
  figure.classList.toggle("is-bare", bare);
  const words = figure.querySelector(".none");
  if (!bare) words?.remove();
  else if (!words) {
    const none = document.createElement("p");
    none.className = "none";
    none.textContent = "Nothing in this range";
    figure.append(none);
  }
}

// --- life -------------------------------------------------------------------------------------------

function start() {
  build();
  load(true);
  document.addEventListener("headrace:news", ({ detail }) => {
    newest = detail.newest || newest; // 0 while there is none
    if (detail.newest) box.classList.remove("is-empty");
    catchUp();
  });
  onTheme(rebuild);
  new ResizeObserver(resize).observe(box);
  box.addEventListener("click", choose);
  // Time goes on where nothing comes in.
  setInterval(() => {
    if (document.hidden || !data.table) return;
    data.forget(serverNow() / 1000);
    draw();
  }, 5000);
}

// At most two requests per bucket, whatever the checkpoint interval. News that come too soon wait:
// they may be the last for long.
let waiting = null;

function catchUp() {
  if (newest === shown || waiting !== null) return;
  const wait = askedAt + Math.max(1000, data.bucket / 2) - Date.now();
  if (wait > 0) {
    waiting = setTimeout(() => {
      waiting = null;
      catchUp();
    }, wait);
    return;
  }
  shown = newest;
  load(data.table === null);
}

function rebuild() {
  build();
  if (data.table) draw();
}

function resize() {
  for (const { plot, holder } of charts) {
    if (holder.clientWidth && holder.clientWidth !== plot.width) {
      plot.setSize({ width: holder.clientWidth, height: HEIGHT });
    }
  }
}

function choose(event) {
  const button = event.target.closest("[data-range]");
  if (!button) return;
  range = button.dataset.range;
  for (const other of box.querySelectorAll("[data-range]")) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  load(true);
}

start();
