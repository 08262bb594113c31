// The charts of a job: bounded columns from the server, drawn by uPlot, kept up to date.

import { Columns } from "./columns.js";
import { serverNow } from "./times.js";

const box = document.getElementById("charts");
const HEIGHT = 168;
const LEAST_SECONDS = 120;

const letters = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const three = (v) => Number(v.toPrecision(3)).toString();

function count(v) {
  if (v == null) return "–";
  for (const [unit, letter] of letters) if (Math.abs(v) >= unit) return `${three(v / unit)} ${letter}`;
  return three(v);
}

function time(ms) {
  if (ms == null) return "–";
  if (ms >= 3_600_000) return `${three(ms / 3_600_000)} h`;
  if (ms >= 60_000) return `${three(ms / 60_000)} min`;
  return ms >= 1000 ? `${three(ms / 1000)} s` : `${three(ms)} ms`;
}

function bytes(v) {
  if (v == null) return "–";
  for (const [power, name] of [[40, "TiB"], [30, "GiB"], [20, "MiB"], [10, "KiB"]]) {
    if (v >= 2 ** power) return `${three(v / 2 ** power)} ${name}`;
  }
  return `${three(v)} B`;
}

// Steps of an axis in bytes: halves and wholes of binary units.
const powers = Array.from({ length: 50 }, (_, i) => 2 ** i);

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });

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
    data.take(await answer.json(), fresh);
    draw();
  } catch {
    // The page says itself that the connection is lost; the next news asks again.
  }
}

// --- drawing --------------------------------------------------------------------------------------

const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);

function colour(token) {
  probe.style.color = `var(--${token})`;
  return getComputedStyle(probe).color;
}

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
  const soft = colour("ink-soft");
  const grid = { stroke: colour("chart-grid"), width: 1 };
  const font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: soft, font, ticks: { show: false }, grid };
  return {
    width: holder.clientWidth || 300,
    height: HEIGHT,
    padding: [8, 10, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: "job" }, drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: { x: { time: true, range: () => xRange() }, y: { range: (_, __, max) => [0, top(max)] } },
    axes: [
      { ...axis, size: 26, space: 70, gap: 4, values: (_, ticks) => ticks.map((t) => clock.format(t * 1000)) },
      { ...axis, size: 58, space: 34, gap: 6, incrs: spec.steps, values: (_, ticks) => ticks.map(spec.say) },
    ],
    series: [{}, ...spec.series.map(([label, , tone], i) => line(label, tone, spec, i))],
    hooks: { setCursor: [(plot) => say(plot, spec, key)], draw: [markAttempts] },
  };
}

function line(label, tone, spec, i) {
  const stroke = colour(`chart-${tone}`);
  const fill = i === 0 ? stroke.replace(/^rgb\((.*)\)$/, "rgba($1, 0.1)") : undefined;
  return { label, stroke, width: 1.6, fill, points: { show: false }, spanGaps: false };
}

const top = (max) => (max > 0 ? max * 1.12 : 1);

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
  document.addEventListener("headrace:theme", rebuild);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", rebuild);
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
