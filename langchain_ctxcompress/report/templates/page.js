"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 100;
const number = (value) => value.toLocaleString("en");
const at = (id) => document.getElementById(id);

// Everything from the conversation goes in as text, never as markup.
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== ""));
  return node;
}

function marked(text, words) {
  const box = make("pre", text.length > 3000 ? { class: "long", tabindex: "0" } : {});
  const low = text.toLowerCase();
  if (!words || low.length !== text.length) { box.append(text); return box; }
  let from = 0, found;
  while ((found = low.indexOf(words, from)) >= 0) {
    box.append(text.slice(from, found), make("mark", {}, text.slice(found, found + words.length)));
    from = found + words.length;
  }
  box.append(text.slice(from));
  return box;
}

function card(message, place, words = "") {
  const head = make("div", { class: "head" }, make("b", {}, message.name ? `${message.k} ${message.name}` : message.k));
  if (place !== null) head.append(make("span", {}, `no. ${number(place + 1)}`));
  if (message.n !== undefined) head.append(make("span", {}, `${number(message.n)} tokens`));
  head.append(make("span", {}, message.id));
  if (message.pin) head.append(make("span", {}, "pinned"));
  if (message.s) head.append(make("span", {}, "summary message"));
  if (message.c >= 0) {
    const link = make("button", { type: "button" }, `replaced by ${data.checkpoints[message.c].number}`);
    link.addEventListener("click", () => openCompression(message.c));
    head.append(link);
  }
  const box = make("article", { class: message.k, tabindex: "-1" }, head);
  if (message.t) box.append(marked(message.t, words));
  if (message.more) box.append(make("p", { class: "note" }, `… ${number(message.more)} more characters in the archive`));
  for (const call of message.calls || []) box.append(make("pre", { class: "call" }, `→ ${call}`));
  for (const kind of message.media || []) box.append(make("p", { class: "note" }, `[${kind}]`));
  return box;
}

// A long list grows as it is scrolled, so that a large session opens at once.
function fill(list, places, draw) {
  list.replaceChildren();
  let shown = 0;
  const more = make("button", { type: "button" });
  function grow(until = shown + PAGE) {
    const next = Math.min(Math.max(until, shown), places.length);
    for (; shown < next; shown += 1) more.before(draw(places[shown]));
    if (shown >= places.length) more.remove();
    else more.textContent = `${number(places.length - shown)} more`;
  }
  list.append(more);
  more.addEventListener("click", () => grow());
  grow();
  return { grow, list };
}

let messages;
function showMessages(words = "") {
  const places = [];
  data.messages.forEach((message, place) => {
    const said = [message.t, message.name || "", message.id, ...(message.calls || [])];
    if (!words || said.some((text) => text.toLowerCase().includes(words))) places.push(place);
  });
  at("found").textContent = words ? `${number(places.length)} of ${number(data.messages.length)} messages` : "";
  messages = fill(at("message-list"), places, (place) => card(data.messages[place], place, words));
}

function goTo(place) {
  if (at("search").value) { at("search").value = ""; showMessages(); }
  messages.grow(place + 10);
  const box = messages.list.children[place];
  document.querySelectorAll(".target").forEach((other) => other.classList.remove("target"));
  box.classList.add("target");
  box.scrollIntoView({ block: "center" });
  box.focus({ preventScroll: true });
}

function openCompression(place) {
  const box = at(`compression-${place}`);
  box.open = true;
  box.querySelector("summary").focus();
  box.scrollIntoView({ block: "start" });
}

function showCompressions() {
  const list = at("compression-list");
  if (!data.checkpoints.length) list.append(make("p", { class: "note" }, "None so far: the session fits in its window."));
  data.checkpoints.forEach((made, place) => {
    const by = [made.strategy, made.summariser].filter(Boolean).join(", ");
    const what = made.covered.length
      ? `${number(made.covered.length)} messages replaced` : `${number(made.altered.length)} messages shortened`;
    const box = make("details", { class: "made", id: `compression-${place}` }, make("summary", {},
      make("b", {}, `${made.number}.`), make("span", {}, `${number(made.before)} → ${number(made.after)} tokens`),
      make("span", {}, what), make("span", { class: "note" }, by), make("span", { class: "note" }, new Date(made.created).toLocaleString())));
    box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(inside(made)); });
    list.append(box);
  });
}

function inside(made) {
  const left = make("div", {}, make("h3", {}, made.level ? `Summary, level ${made.level}` : "No summary"));
  if (made.text) left.append(marked(made.text));
  if (made.quotes.length) left.append(make("h3", {}, "The user's own words"), ...made.quotes.map((text) => marked(text)));
  if (made.rendered) {
    const whole = make("details", {}, make("summary", {}, "The whole summary message"), marked(made.rendered));
    left.append(whole);
  }
  const originals = make("div");
  const right = make("div", {}, make("h3", {}, "Originals"), originals);
  const places = [...made.covered, ...made.altered];
  if (places.length) fill(originals, places, (place) => card({ ...data.messages[place], c: -1 }, place));
  else originals.append(make("p", { class: "note" }, "None that the archive still holds."));
  return make("div", { class: "pair" }, left, right);
}

function showLedger() {
  const list = at("ledger-list");
  const kinds = Object.entries(data.ledger);
  if (!kinds.length) list.append(make("p", { class: "note" }, "Nothing was written down so far."));
  for (const [kind, records] of kinds) {
    const items = make("ul", { class: "records" });
    fill(items, records, (record) => {
      const item = make("li", {}, record.text, record.about ? ` (${record.about})` : "");
      for (const place of record.from.slice(0, 5)) {
        const link = make("button", { type: "button" }, `no. ${number(place + 1)}`);
        link.addEventListener("click", () => goTo(place));
        item.append(" ", link);
      }
      return item;
    });
    list.append(make("h3", {}, `${kind} (${number(records.length)})`), items);
  }
}

function showWindow() {
  const total = data.tiers.reduce((sum, tier) => sum + tier[1], 0) || 1;
  const stack = make("div", { class: "stack", "aria-hidden": "true" });
  const key = make("div", { class: "key" });
  for (const [label, tokens, color] of data.tiers) {
    stack.append(make("div", { style: `width:${(100 * tokens) / total}%;background:${color}` }));
    key.append(make("span", {}, make("i", { style: `background:${color}` }), `${label} ${number(tokens)}`));
  }
  at("tiers").append(stack, key);
  const whole = make("details", {}, make("summary", {}, `${number(data.window.length)} messages`));
  const list = make("div");
  whole.append(list);
  whole.addEventListener("toggle", () => {
    if (whole.open && !list.children.length) fill(list, data.window, (message) => card(message, null));
  });
  at("window-list").append(whole);
}

function drawing(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function showTimeline() {
  const box = at("timeline");
  const width = Math.max(320, box.clientWidth), height = 220, left = 64, bottom = 24, top = 12;
  const points = [];
  for (const [place, tokens, before] of data.curve) {
    if (before !== null) points.push([place, before]);
    points.push([place, tokens]);
  }
  const limits = data.limits.map((limit, place) => [limit, ["soft limit", "hard limit"][place], ["softlimit", "hardlimit"][place]])
    .filter(([limit]) => limit);
  const most = 1.1 * Math.max(1, ...limits.map(([limit]) => limit), points.reduce((top, [, tokens]) => Math.max(top, tokens), 0));
  const last = Math.max(1, data.messages.length - 1);
  const x = (place) => left + ((width - left - 8) * place) / last;
  const y = (tokens) => top + (height - top - bottom) * (1 - tokens / most);
  const step = Math.max(1, Math.floor(points.length / 4000));
  const line = points.filter((_, place) => place % step === 0).map(([place, tokens]) => `${x(place).toFixed(1)},${y(tokens).toFixed(1)}`);
  const compressions = data.curve.filter(([, , before]) => before !== null).length;
  box.replaceChildren();
  const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Tokens in the window over ${number(data.messages.length)} messages, with ${compressions} compressions` });
  const unit = 10 ** Math.floor(Math.log10(most));
  const every = [0.2, 0.5, 1, 2].map((part) => part * unit).find((size) => most / size <= 5);
  for (let tokens = 0; tokens <= most; tokens += every) {
    picture.append(drawing("line", { x1: left, x2: width - 8, y1: y(tokens), y2: y(tokens), stroke: "var(--line)" }),
      drawing("text", { x: left - 8, y: y(tokens) + 4, "text-anchor": "end" }, number(Math.round(tokens))));
  }
  for (const [limit, label, color] of limits) {
    picture.append(drawing("line", { x1: left, x2: width - 8, y1: y(limit), y2: y(limit), stroke: `var(--${color})`, "stroke-dasharray": "5 4" }),
      drawing("text", { x: left + 4, y: y(limit) - 4 }, label));
  }
  picture.append(drawing("polyline", { points: line.join(" "), fill: "none", stroke: "var(--window)", "stroke-width": 1.5 }),
    drawing("text", { x: left, y: height - 6 }, "message 1"),
    drawing("text", { x: width - 8, y: height - 6, "text-anchor": "end" }, `message ${number(data.messages.length)}`));
  for (const [place, tokens, before] of data.curve) {
    if (before !== null) picture.append(drawing("circle", { cx: x(place), cy: y(tokens), r: 3, fill: "var(--window)" },
      drawing("title", {}, `${number(before)} → ${number(tokens)} tokens`)));
  }
  box.append(picture);
}

function step(by) {
  const boxes = [...document.querySelectorAll("details.made")];
  if (!boxes.length) return;
  const now = boxes.findIndex((box) => box.contains(document.activeElement));
  const next = boxes[Math.min(boxes.length - 1, Math.max(0, now < 0 ? 0 : now + by))];
  next.querySelector("summary").focus();
}

let waiting;
at("search").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => showMessages(at("search").value.trim().toLowerCase()), 120);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  if (event.key === "/") { event.preventDefault(); at("search").focus(); }
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
addEventListener("resize", showTimeline);
showTimeline();
showWindow();
showCompressions();
showLedger();
showMessages();
