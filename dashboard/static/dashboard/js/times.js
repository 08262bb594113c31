// Clocks: "12 s ago" and running durations go on between updates, by the server's clock.
// The wording is that of formats.py.

let skew = 0;

export function setServerTime(ms) {
  skew = ms - Date.now();
}

export const serverNow = () => Date.now() + skew;

const two = (n) => String(n).padStart(2, "0");

export function elapsed(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

function coarse(s) {
  if (s >= 86400) return `${Math.floor(s / 86400)} d`;
  if (s >= 3600) return `${Math.floor(s / 3600)} h`;
  return s >= 60 ? `${Math.floor(s / 60)} min` : `${s} s`;
}

export function ago(ms) {
  const s = Math.trunc(ms / 1000);
  if (s < -2) return `in ${coarse(-s)}`;
  if (s < 3) return "just now";
  return s < 7 * 86400 ? `${coarse(s)} ago` : null;
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

function tick() {
  const now = serverNow();
  for (const time of document.querySelectorAll("time[data-ago], time[data-elapsed]")) {
    const since = now - Date.parse(time.dateTime);
    const text = "ago" in time.dataset ? ago(since) : elapsed(since);
    if (text !== null && time.firstChild?.nodeValue !== text) time.textContent = text;
    if (!time.dataset.local) {
      time.dataset.local = "1";
      time.title += `\n${local.format(Date.parse(time.dateTime))} here`;
    }
  }
}

export function startClocks() {
  const at = Number(document.getElementById("main")?.dataset.at);
  if (at) setServerTime(at);
  tick();
  setInterval(() => document.hidden || tick(), 1000);
  document.addEventListener("visibilitychange", () => document.hidden || tick());
  document.addEventListener("headrace:news", tick);
}
