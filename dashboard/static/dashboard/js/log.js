// The log's tail: asks for what came after what it has, holds a bounded number of lines.

import { morph } from "./morph.js";

const LINES = 4000;
const EVERY = 1500;

const box = document.getElementById("log");
const lines = document.getElementById("log-lines");
const earlier = document.getElementById("log-earlier");
const follow = document.getElementById("follow");
const find = document.getElementById("log-find");
const size = document.getElementById("log-size");

const still = box !== null && "still" in box.dataset; // a piece from the middle: nothing follows
const utf8 = new TextEncoder();

let start = Number(box?.dataset.start);
let end = Number(box?.dataset.end);

function begin() {
  find.hidden = false;
  document.getElementById("follow-box").hidden = still;
  if (still) follow.checked = false;
  document.getElementById("attempt-go").hidden = true;
  document.getElementById("attempt").addEventListener("change", (event) => event.target.form.submit());
  earlier.hidden = start === 0;
  earlier.addEventListener("click", showEarlier);
  find.addEventListener("input", filter);
  box.addEventListener("scroll", () => {
    const bottom = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    if (follow.checked !== bottom) follow.checked = bottom;
  });
  follow.addEventListener("change", toBottom);
  toBottom();
  if (!still) next();
}

const toBottom = () => follow.checked && (box.scrollTop = box.scrollHeight);

async function ask(query) {
  const answer = await fetch(`${box.dataset.lines}?${query}`, { cache: "no-store" });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const piece = await answer.json();
  piece.nodes = document.createElement("template");
  piece.nodes.innerHTML = piece.html;
  return piece;
}

async function next() {
  if (!document.hidden) await more().catch(() => {}); // the page says that the connection is lost
  setTimeout(next, EVERY);
}

async function more() {
  if (!follow.checked && lines.childElementCount >= LINES) return; // following catches up
  const piece = await ask(`after=${end}`);
  if (piece.end === end && piece.start <= end) return;
  if (piece.start !== end) {
    // More had come than one answer holds, or the file was begun anew: this is its tail now.
    morph(lines, piece.html);
    start = piece.start;
  } else {
    lines.append(piece.nodes.content);
  }
  end = piece.end;
  size.textContent = said(piece.size);
  document.getElementById("no-log")?.remove();
  earlier.hidden = start === 0;
  if (follow.checked) trim();
  filter();
  toBottom();
}

// Drops the oldest lines; `start` moves with them, so that they can be read again.
function trim() {
  while (lines.childElementCount > LINES) {
    start += utf8.encode(lines.firstElementChild.textContent).length + 1;
    lines.firstElementChild.remove();
  }
  earlier.hidden = start === 0;
}

async function showEarlier() {
  const piece = await ask(`before=${start}`);
  const height = box.scrollHeight;
  follow.checked = false;
  lines.prepend(piece.nodes.content);
  start = piece.start;
  box.scrollTop += box.scrollHeight - height;
  const full = lines.childElementCount >= LINES;
  earlier.hidden = start === 0 || full;
  filter();
}

function filter() {
  const words = find.value.toLowerCase();
  for (const line of lines.children) {
    line.classList.toggle("is-away", words !== "" && !line.textContent.toLowerCase().includes(words));
  }
}

function said(bytes) {
  const units = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
  for (const [unit, name] of units) {
    if (bytes >= unit) return `${Number((bytes / unit).toPrecision(3))} ${name}`;
  }
  return `${bytes} B`;
}

if (box) begin();
