// What all charts share: how figures read, colours from the page, axes and lines for uPlot.

export const HEIGHT = 168;

const letters = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const three = (v) => Number(v.toPrecision(3)).toString();

export function count(v) {
  if (v == null) return "–";
  for (const [unit, letter] of letters) if (Math.abs(v) >= unit) return `${three(v / unit)} ${letter}`;
  return three(v);
}

export function time(ms) {
  if (ms == null) return "–";
  if (ms >= 3_600_000) return `${three(ms / 3_600_000)} h`;
  if (ms >= 60_000) return `${three(ms / 60_000)} min`;
  return ms >= 1000 ? `${three(ms / 1000)} s` : `${three(ms)} ms`;
}

export function bytes(v) {
  if (v == null) return "–";
  for (const [power, name] of [[40, "TiB"], [30, "GiB"], [20, "MiB"], [10, "KiB"]]) {
    if (v >= 2 ** power) return `${three(v / 2 ** power)} ${name}`;
  }
  return `${three(v)} B`;
}

// Steps of an axis in bytes: halves and wholes of binary units.
export const powers = Array.from({ length: 50 }, (_, i) => 2 ** i);

export const top = (max) => (max > 0 ? max * 1.12 : 1);

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

// Ticks of the time axis: the time of day, over days the day.
const ticksOf = (seconds) => (_, ticks) =>
  ticks.map((t) => (seconds() > 2 * 86_400 ? day : clock).format(t * 1000));

const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);

export function colour(token) {
  probe.style.color = `var(--${token})`;
  return getComputedStyle(probe).color;
}

export function axes(say, seconds, steps) {
  const font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
  const grid = { stroke: colour("chart-grid"), width: 1 };
  const axis = { stroke: colour("ink-soft"), font, ticks: { show: false }, grid };
  return [
    { ...axis, size: 26, space: 70, gap: 4, values: ticksOf(seconds) },
    { ...axis, size: 58, space: 34, gap: 6, incrs: steps, values: (_, ticks) => ticks.map(say) },
  ];
}

export function line(label, tone, filled) {
  const stroke = colour(`chart-${tone}`);
  const fill = filled ? stroke.replace(/^rgb\((.*)\)$/, "rgba($1, 0.1)") : undefined;
  return { label, stroke, width: 1.6, fill, points: { show: false }, spanGaps: false };
}

// Colours are drawn into the charts: they are drawn anew with others.
export function onTheme(rebuild) {
  document.addEventListener("headrace:theme", rebuild);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", rebuild);
}
