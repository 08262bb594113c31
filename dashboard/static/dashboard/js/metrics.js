// Metrics over time: find them by name, pick some; pages may have some picked from the start. What
// is picked stays in the address, so that a chart can be handed on.

import { HEIGHT, axes, bytes, count, line, onTheme, time, top } from "./plots.js";
import { serverNow } from "./times.js";

const EVERY = 5_000;
const MOST = 12; // charts at once
const LEAST_SECONDS = 120;
const LIVE_POINTS = 720; // of a figure that has no history: an hour of them

const tools = document.getElementById("metrics");
const find = document.getElementById("metric-find");
const said = document.getElementById("metric-count");
const holder = document.getElementById("metric-charts");
const ranges = document.getElementById("metric-ranges");

const preset = (tools.dataset.preset ?? "").split(" ").filter(Boolean);

const query = new URLSearchParams(location.search);
const picked = new Map(); // name -> chart
let range = query.get("range") || "15m";
let seconds = 900;
let asked = 0;

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium", timeZone: "UTC" });
const moment = (v) => (v > 0 && v < 8e15 ? clock.format(v) : "–");

function say(name) {
  if (/[bB]ytes|[sS]ize|Memory|persistedData|processedData/.test(name)) return bytes;
  if (/([wW]atermark|Timestamp)$/.test(name)) return moment;
  if (/(Duration|Time|TimeLag|watermarkLag)$|(^|\.)latency[._]/.test(name)) return time;
  return count;
}

// --- finding --------------------------------------------------------------------------------------

function filter() {
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.setAttribute("aria-pressed", String(picked.has(button.dataset.pick)));
  }
  if (!find) return;
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  const rows = document.querySelectorAll("tr[data-metric]");
  for (const row of rows) {
    const name = row.dataset.metric.toLowerCase();
    const away = !words.every((word) => name.includes(word));
    row.classList.toggle("is-away", away);
    shown += !away;
  }
  said.textContent = words.length ? `${shown} of ${rows.length}` : `${rows.length} metrics`;
}

// --- picking --------------------------------------------------------------------------------------

function toggle(name) {
  if (picked.has(name)) remove(name);
  else if (picked.size < MOST) add(name);
  else if (said) said.textContent = `At most ${MOST} charts at once: take one away first.`;
  keep();
}

function keep() {
  const address = new URL(location);
  address.searchParams.delete("pick");
  for (const name of picked.keys()) {
    if (!preset.includes(name)) address.searchParams.append("pick", name);
  }
  if (range !== "15m") address.searchParams.set("range", range);
  else address.searchParams.delete("range");
  history.replaceState(null, "", address);
  ranges.hidden = picked.size === 0;
  filter();
  load();
}

function add(name) {
  const figure = document.createElement("figure");
  figure.className = "chart";
  const caption = document.createElement("figcaption");
  const title = document.createElement("span");
  title.className = "mono break";
  title.textContent = name;
  const end = document.createElement("span");
  end.className = "key";
  const value = document.createElement("b");
  const away = document.createElement("button");
  away.type = "button";
  away.className = "button is-small";
  away.textContent = "Remove";
  away.setAttribute("aria-label", `Remove the chart of ${name}`);
  away.addEventListener("click", () => toggle(name));
  end.append(value);
  if (!preset.includes(name)) end.append(away);
  caption.append(title, end);
  const plot = document.createElement("div");
  plot.className = "plot";
  const words = document.createElement("p");
  words.className = "none";
  words.hidden = true;
  figure.append(caption, plot, words);
  holder.append(figure);
  picked.set(name, { figure, holder: plot, value, note: words, rows: [], plot: null, asked: false, live: false });
  draw(name);
}

function remove(name) {
  const chart = picked.get(name);
  chart.plot?.destroy();
  chart.figure.remove();
  picked.delete(name);
}

// --- drawing --------------------------------------------------------------------------------------

function draw(name) {
  const chart = picked.get(name);
  const speak = say(name);
  const now = serverNow() / 1000;
  chart.plot?.destroy();
  const rows = chart.rows;
  const wide = rows.some(([, low, , high]) => high !== low);
  const columns = [rows.map(([at]) => at / 1000), rows.map((row) => row[2])];
  if (wide) columns.push(rows.map((row) => row[3]));
  chart.plot = new uPlot(
    {
      width: chart.holder.clientWidth || 300,
      height: HEIGHT,
      padding: [8, 10, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: "metrics" }, drag: { x: false, y: false }, y: false, points: { size: 6 } },
      scales: {
        x: { time: true, range: () => [begin(rows, now), now] },
        y: { range: (_, low, high) => [Math.min(0, low ?? 0), top(high)] },
      },
      axes: axes(speak, () => seconds),
      series: [{}, line("mean", 1, true), ...(wide ? [line("largest", 3, false)] : [])],
      hooks: { setCursor: [(plot) => tell(chart, speak, plot)] },
    },
    columns,
    chart.holder,
  );
  tell(chart, speak, chart.plot);
  note(chart);
}

// Why there is no line, or only a short one.
function note(chart) {
  const words = chart.asked && !chart.rows.length ? "Nothing in this range" : chart.live && chart.rows.length < 3 ? "Since this page was opened" : "";
  chart.note.textContent = words;
  chart.note.hidden = !words;
  chart.figure.classList.toggle("is-bare", chart.asked && !chart.rows.length);
}

// The range up to now; of young figures, what there is of it.
function begin(rows, now) {
  const first = (rows[0]?.[0] ?? 0) / 1000 || now - seconds;
  return Math.max(now - seconds, Math.min(first - 5, now - LEAST_SECONDS));
}

function tell(chart, speak, plot) {
  const at = plot.cursor.idx;
  const column = plot.data[1];
  chart.value.textContent = speak(at == null ? column?.at(-1) : column?.[at]);
}

// --- data -----------------------------------------------------------------------------------------

async function load() {
  if (!picked.size) return;
  const number = ++asked;
  const names = [...picked.keys()];
  const wanted = new URLSearchParams({ range });
  for (const name of names) wanted.append("name", tools.dataset.prefix + name);
  try {
    const answer = await fetch(`${tools.dataset.series}?${wanted}`, { cache: "no-store" });
    if (!answer.ok || number !== asked) return;
    take(await answer.json(), names);
  } catch {
    // The page says itself that the connection is lost.
  }
}

function take(answer, names) {
  seconds = answer.range;
  for (const name of names) {
    const chart = picked.get(name);
    if (!chart) continue;
    const key = tools.dataset.prefix + name;
    const history = answer.names[key] ?? [];
    chart.asked = true;
    chart.live = !history.length && key in answer.latest;
    if (history.length || !chart.live) chart.rows = history;
    else collect(chart, answer.now, answer.latest[key]);
    draw(name);
  }
}

// A figure that no history is kept of: what came since the page was opened.
function collect(chart, now, value) {
  if (value === undefined) return;
  chart.rows.push([now, value, value, value]);
  if (chart.rows.length > LIVE_POINTS) chart.rows.splice(0, chart.rows.length - LIVE_POINTS);
}

// --- life -----------------------------------------------------------------------------------------

function choose(button) {
  range = button.dataset.range;
  press();
  keep();
}

function press() {
  for (const other of ranges.children) {
    other.setAttribute("aria-pressed", String(other.dataset.range === range));
  }
}

function rebuild() {
  for (const name of picked.keys()) draw(name);
}

function start() {
  find?.addEventListener("input", filter);
  document.addEventListener("headrace:news", filter);
  document.addEventListener("click", (event) => {
    const pick = event.target.closest("[data-pick]");
    if (pick) toggle(pick.dataset.pick);
    const button = event.target.closest("#metric-ranges [data-range]");
    if (button) choose(button);
  });
  onTheme(rebuild);
  new ResizeObserver(rebuild).observe(holder);
  setInterval(() => document.hidden || load(), EVERY);
  press();
  for (const name of new Set([...preset, ...query.getAll("pick")].slice(0, MOST))) add(name);
  keep();
}

start();
