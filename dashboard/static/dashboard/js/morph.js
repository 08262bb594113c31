// Makes an element look like new HTML by changing only what differs, so that focus, selection,
// scroll positions and opened details stay, and nothing flickers.

export function morph(element, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  morphChildren(element, template.content);
}

const keyOf = (node) => node.dataset?.key;

function morphChildren(old, fresh) {
  const keyed = new Map();
  for (const child of old.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  let next = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const match = counterpart(wanted, next, keyed);
    if (!match) {
      old.insertBefore(wanted, next);
      continue;
    }
    if (match === next) next = next.nextSibling;
    else old.insertBefore(match, next);
    morphNode(match, wanted);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

function counterpart(wanted, next, keyed) {
  const key = keyOf(wanted);
  if (key) return keyed.get(key);
  const alike = next && !keyOf(next) && next.nodeName === wanted.nodeName;
  return alike ? next : undefined;
}

function morphNode(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  const sameClock = old.nodeName === "TIME" && old.dateTime === fresh.dateTime;
  morphAttributes(old, fresh, sameClock);
  if (!sameClock) morphChildren(old, fresh);
}

function morphAttributes(old, fresh, sameClock) {
  for (const { name, value } of fresh.attributes) {
    if (name === "open" || (sameClock && name === "title")) continue;
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
}
