// Keeps a page up to date: server-sent events, or polling where a stream does not come through.
// Says so when nothing is heard, since when, and goes on by itself when the server is back.

import { morph } from "./morph.js";
import { elapsed, serverNow, setServerTime } from "./times.js";

const SILENCE = 12_000; // a beat comes every 5 s
const GRACE = 3_000; // a stream that ends in order is back sooner
const RETRY = [500, 1_000, 2_000, 4_000, 8_000];
const POLL = 3_000;
const HIDDEN = 30_000; // a tab nobody looks at gives its connection back

const main = document.getElementById("main");
const stale = document.getElementById("stale");
const state = document.getElementById("link-state");
const announcer = document.getElementById("announcer");

let source = null;
let failures = 0;
let opened = false; // whether a stream ever came through
let heard = Date.now();
let heardAt = Number(main?.dataset.at) || Date.now();
let lostSince = 0;
let ended = "";
let timer = 0;
let hideTimer = 0;

export function startLive() {
  if (!main?.dataset.live) return;
  connect();
  setInterval(watch, 1000);
  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("pageshow", (event) => event.persisted && reconnect());
  addEventListener("online", reconnect);
}

function connect() {
  close();
  source = new EventSource(main.dataset.live);
  source.addEventListener("regions", (event) => receive(JSON.parse(event.data), "live"));
  source.addEventListener("beat", (event) => receive(JSON.parse(event.data), "live"));
  source.addEventListener("gone", () => end("What this page shows does not exist any more."));
  source.onerror = onError;
}

function close() {
  source?.close();
  source = null;
  clearTimeout(timer);
}

function reconnect() {
  if (ended) return;
  failures = 0;
  connect();
}

function onError() {
  close();
  lostSince ||= Date.now();
  const wait = RETRY[Math.min(failures++, RETRY.length - 1)];
  // A refused stream says nothing about why; an ordinary request does.
  timer = setTimeout(failures > 1 ? poll : connect, wait);
}

async function poll() {
  try {
    const live = main.dataset.live;
    const answer = await fetch(`${live}${live.includes("?") ? "&" : "?"}poll`, { cache: "no-store" });
    if (answer.status === 401) return end("Your login has ended.", true);
    if (answer.status === 410) return end("What this page shows does not exist any more.");
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    receive(await answer.json(), "poll");
    // The server is there: try the stream again, rarely if it never came through.
    const again = opened || failures++ % 10 === 9;
    timer = setTimeout(again ? connect : poll, again ? 0 : POLL);
  } catch {
    onError();
  }
}

function receive(news, how) {
  heard = Date.now();
  heardAt = news.at;
  lostSince = 0;
  if (how === "live") {
    opened = true;
    failures = 0;
  }
  setServerTime(news.at);
  for (const [name, html] of Object.entries(news.regions ?? {})) exchange(name, html);
  if (news.title) retitle(news.title);
  if ("firing" in news) count(news.firing);
  show(how);
  document.dispatchEvent(new CustomEvent("headrace:news", { detail: news }));
}

function exchange(name, html) {
  const region = document.querySelector(`[data-region="${name}"]`);
  if (region) morph(region, html);
}

// Alerts that fire stand in the navigation of every page.
function count(firing) {
  const badge = document.querySelector("[data-firing]");
  if (!badge) return;
  badge.hidden = firing === 0;
  const text = String(firing);
  if (badge.firstElementChild.textContent !== text) badge.firstElementChild.textContent = text;
}

function retitle(title) {
  const full = `${title} · Headrace`;
  if (document.title === full) return;
  document.title = full;
  announcer.textContent = title;
}

function watch() {
  if (ended || document.hidden) return;
  const silent = Date.now() - heard > SILENCE;
  const broken = lostSince && Date.now() - lostSince > GRACE;
  if (silent || broken) show("lost");
  if (silent && source && Date.now() - heard > 2 * SILENCE) {
    heard += SILENCE; // a connection that is open and dead: try another
    onError();
  }
}

const WORDS = { live: "Live", poll: "Live, by polling", lost: "Connection lost", off: "Not live" };

function show(how) {
  if (state.dataset.state !== how) {
    state.dataset.state = how;
    state.querySelector("[data-text]").textContent = WORDS[how];
  }
  document.documentElement.classList.toggle("is-stale", how === "lost");
  if (how !== "lost") {
    stale.hidden = true;
    return;
  }
  const since = new Date(heardAt).toLocaleTimeString();
  if (stale.hidden) {
    stale.innerHTML = '<span></span> <span aria-hidden="true"></span>';
    stale.firstChild.textContent = `Connection lost. The page shows what was known at ${since}; trying again.`;
    stale.hidden = false;
  }
  stale.lastChild.textContent = `(${elapsed(serverNow() - heardAt)} ago)`;
}

function end(words, login = false) {
  ended = words;
  close();
  state.dataset.state = "off";
  state.querySelector("[data-text]").textContent = WORDS.off;
  stale.textContent = `${words} `;
  if (login) {
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "Log in again";
    stale.append(link);
  }
  stale.hidden = false;
}

function onVisibility() {
  clearTimeout(hideTimer);
  if (ended) return;
  if (document.hidden) {
    hideTimer = setTimeout(close, HIDDEN);
  } else if (!source) {
    heard = Date.now();
    lostSince = 0;
    reconnect();
  }
}
