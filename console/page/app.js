// The playground. Texts of models are hostile: they are set as textContent and nothing else,
// by the two functions el and put.
"use strict";
(() => {
const $ = id => document.getElementById(id);
const svgSpace = "http://www.w3.org/2000/svg";
const bytes = s => new TextEncoder().encode(s);
let shown = null;       // the explanation on the page
let asked = 0;          // number of the last request: answers to older ones are thrown away
let at = 0;             // how many pieces have come
let chosen = -1;        // the candidate that is explained
let timer = 0, player = 0;

// The token comes in the fragment, which is never sent, and does not stay in the address.
const fragment = new URLSearchParams(location.hash.slice(1));
if (fragment.get("token")) {
  sessionStorage.setItem("callwright-token", fragment.get("token"));
  history.replaceState(null, "", location.pathname);
}

function el(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  for (const c of children) if (typeof c === "string") put(e, c); else e.append(c);
  return e;
}

// put adds a text. Characters that cannot be seen, or that change how others are shown, are
// named.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
function put(e, s) {
  for (let m; (m = unseen.exec(s)); s = s.slice(m.index + 1)) {
    e.append(document.createTextNode(s.slice(0, m.index)));
    const chip = document.createElement("span");
    chip.className = "chip";
    chip.textContent = "U+" + m[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    e.append(chip);
  }
  e.append(document.createTextNode(s));
}

function request() {
  const q = {text: $("text").value, model: $("model").value.trim(), format: $("format").value, reasoning_open: $("open").checked,
    strict: $("strict").checked, lossy: $("lossy").checked, piece: Number($("piece").value)};
  const tools = $("tools").value.trim();
  if (tools) q.tools = JSON.parse(tools);
  return q;
}

function fail(message) {
  $("error").replaceChildren();
  put($("error"), message);
}

async function explain() {
  const number = ++asked;
  let q;
  try {
    q = request();
  } catch (e) {
    fail("The tools are not JSON: " + e.message);
    return;
  }
  if (!q.text) { shown = null; render(); return; }
  try {
    const answer = await fetch("api/explain", {method: "POST", body: JSON.stringify(q),
      headers: {"Content-Type": "application/json", "Callwright-Token": sessionStorage.getItem("callwright-token") || ""}});
    const x = await answer.json();
    if (number !== asked) return;
    if (!answer.ok) { fail(x.error); return; }
    shown = x;
    at = x.pieces.length;
    chosen = -1;
    fail("");
    render();
  } catch (e) {
    if (number === asked) fail("The playground does not answer: " + e.message);
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(explain, 150);
}

function render() {
  stop();
  const x = shown;
  $("slider").max = x ? x.pieces.length : 0;
  $("arguments").replaceChildren();
  if (!x) {
    $("verdict").textContent = "Paste a text";
    for (const id of ["facts", "toolcount"]) $(id).textContent = "";
    for (const id of ["marked", "events", "why"]) $(id).replaceChildren();
    position();
    return;
  }
  const n = x.result.calls.length, r = x.candidates.filter(c => !c.called).length;
  $("verdict").textContent = (n === 1 ? "1 call" : n + " calls") + (r ? ", " + r + " rejected" : "");
  const formats = [...new Set(x.result.calls.map(c => c.source_format))];
  $("facts").replaceChildren();
  put($("facts"), [formats.length ? "dialect " + formats.join(", ") : "no dialect", ...x.result.warnings,
    x.result.truncated ? "cut off" : "", x.result.strategy ? "found by " + x.result.strategy : "",
    "read in " + (x.result.duration_us / 1000).toFixed(1) + " ms"].filter(Boolean).join(" · "));
  $("toolcount").textContent = x.tools ? "✓ " + (x.tools === 1 ? "1 tool" : x.tools + " tools") : "";
  for (const id of ["feedback", "feedbackhead"]) $(id).hidden = !x.feedback;
  $("feedback").replaceChildren();
  put($("feedback"), x.feedback || "");
  renderArguments(x);
  renderWhy();
  move(at);
}

// move shows the text as it is when so many pieces have come.
function move(to) {
  if (!shown) return;
  at = Math.max(0, Math.min(to, shown.pieces.length));
  const end = at === 0 ? 0 : shown.pieces[at - 1];
  renderText(end);
  renderEvents(end);
  position();
}

function position() {
  $("slider").value = at;
  $("position").textContent = shown ? `piece ${at} of ${shown.pieces.length}, byte ${at ? shown.pieces[at - 1] : 0} of ${shown.pieces.at(-1) || 0}` : "";
}

function renderText(end) {
  let line = el("div");
  const lines = [line];
  const add = (text, className) => text.split("\n").forEach((part, i) => {
    if (i) lines.push(line = el("div"));
    if (part) line.append(el("span", className, part));
  });
  for (const s of shown.segments) {
    for (const c of s.candidates || []) line.append(tag(c));
    const b = bytes(s.text), cut = Math.max(0, Math.min(b.length, end - s.start));
    const name = s.kind === "content" || s.why === "white space" ? "" : s.kind;
    const known = new TextDecoder().decode(b.slice(0, cut), {stream: true});
    add(known, name);
    add(s.text.slice(known.length), (name + " future").trim());
  }
  $("marked").replaceChildren(...lines);
}

function tag(i) {
  const c = shown.candidates[i], name = c.tool || "no call";
  const b = el("button", c.called ? "tag" : "tag no", c.called ? `${i + 1} ${name} ${c.score.overall.toFixed(2)}` : `✕ ${name}`);
  b.type = "button";
  b.dataset.candidate = i;
  b.setAttribute("aria-pressed", String(i === chosen));
  b.setAttribute("aria-label", `candidate ${i + 1} of ${shown.candidates.length}, ${c.called ? "called" : "rejected"}, ${name}, confidence ${c.score.overall.toFixed(2)}`);
  return b;
}

function choose(i) {
  chosen = i;
  for (const b of $("marked").querySelectorAll(".tag")) b.setAttribute("aria-pressed", String(Number(b.dataset.candidate) === i));
  renderWhy();
}

const row = (...cells) => el("tr", "", ...cells);
const cell = (className, text) => el("td", className, text);

// bar draws a factor on a logarithmic scale from 0.2 to 1.25, with a line at 1.
function bar(f) {
  const x = v => 160 * Math.log(Math.max(0.2, Math.min(1.25, v)) / 0.2) / Math.log(1.25 / 0.2);
  const make = (name, attributes) => {
    const e = document.createElementNS(svgSpace, name);
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    return e;
  };
  const s = make("svg", {width: 162, height: 12, role: "img", "aria-label": "factor " + f.toFixed(2)});
  s.append(make("rect", {x: Math.min(x(f), x(1)), y: 2, width: Math.abs(x(f) - x(1)), height: 8, class: f > 1 ? "up" : "down"}),
    make("line", {x1: x(1), x2: x(1), y1: 0, y2: 12}));
  return s;
}

function renderWhy() {
  const c = shown && shown.candidates[chosen];
  if (!c) { $("why").replaceChildren(); return; }
  const body = el("tbody");
  for (const e of c.score.evidence || []) body.append(row(cell("n", e.factor.toFixed(2)), el("td", "", bar(e.factor)), cell("", e.what)));
  const parts = Object.entries(c.score.components).map(([k, v]) => `${k} ${v.toFixed(2)}`).join(" × ");
  const children = [el("h2", "", `${chosen + 1} ${c.tool || "no call"}: ${c.called ? "called" : "not called"}`),
    el("p", "muted", [`bytes ${c.span[0]} to ${c.span[1]}`, c.method, c.provenance, c.format].filter(Boolean).join(" · "))];
  if (c.reason) children.push(el("p", "", c.reason));
  for (const e of c.errors || []) children.push(el("p", "", `${e.path ? e.path + ": " : ""}${e.code}: ${e.message}${e.suggested_fix ? ` (${e.suggested_fix})` : ""}`));
  if (c.repairs && c.repairs.length) children.push(el("p", "", "repaired: " + c.repairs.join(", ")));
  if (c.score.overall) children.push(el("p", "", `confidence ${c.score.overall.toFixed(2)} = ${parts}`));
  children.push(el("table", "", body));
  if (c.surroundings) children.push(el("h3", "", "Surroundings"), el("ul", "", ...c.surroundings.map(s => el("li", "", s))));
  $("why").replaceChildren(...children);
}

function renderEvents(end) {
  const body = el("tbody");
  for (const e of shown.events) {
    let what = e.text || e.delta || e.tool || "";
    if (e.call) what = `${e.call.tool}, confidence ${e.call.confidence.toFixed(2)}`;
    if (e.rejected) what = `${e.rejected.tool}: ${e.rejected.errors[0].message}`;
    if (e.type === "result") what = $("verdict").textContent;
    else if ("index" in e) what = `${e.index + 1} ${what}`;
    body.append(el("tr", e.at > end ? "coming" : "", cell("n", String(e.at)), cell("", e.type), cell("text", what)));
  }
  $("events").replaceChildren(el("table", "", body));
}

function renderArguments(x) {
  const body = el("tbody");
  const text = v => JSON.stringify(v);
  for (const c of x.result.calls) {
    const head = el("th", "", `${c.tool} ${c.id}`);
    head.colSpan = 4;
    body.append(row(head));
    const coercions = new Map(c.coercions.map(k => [k.path, k]));
    for (const name of Object.keys(c.parameters)) {
      const path = "/" + name.replaceAll("~", "~0").replaceAll("/", "~1"), k = coercions.get(path);
      coercions.delete(path);
      const change = k ? el("span", "changed", k.rule || "changed") : c.defaults.includes(path) ? el("span", "changed", "default") : el("span", "", "as written");
      body.append(row(cell("text", path), cell("text", k ? text(k.from) : c.defaults.includes(path) ? "" : text(c.parameters[name])),
        cell("text", text(c.parameters[name])), el("td", "", change)));
    }
    for (const [path, k] of coercions) {
      body.append(row(cell("text", path || "all"), cell("text", text(k.from)), cell("text", text(k.to)), el("td", "", el("span", "changed", k.rule || "changed"))));
    }
  }
  const heads = row(...["Parameter", "The model wrote", "Handed on", "Change"].map(t => el("th", "", t)));
  $("arguments").replaceChildren(el("table", "", el("thead", "", heads), body));
}

function stop() {
  clearInterval(player);
  player = 0;
  $("play").textContent = "▶";
}

function play() {
  if (player || !shown) { stop(); return; }
  if (at >= shown.pieces.length) move(0);
  $("play").textContent = "⏸";
  player = setInterval(() => { move(at + 1); if (at >= shown.pieces.length) stop(); }, 60);
}

function save() {
  let q;
  try { q = request(); } catch (e) { fail("The tools are not JSON: " + e.message); return; }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify({callwright_playground: 1, request: q}, null, 2)], {type: "application/json"}));
  link.download = "callwright-playground.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function load(file) {
  let saved;
  try { saved = JSON.parse(await file.text()); } catch (e) { fail("The file is not JSON: " + e.message); return; }
  const q = saved && saved.callwright_playground === 1 && saved.request;
  if (!q || typeof q.text !== "string") { fail("The file was not saved by the playground."); return; }
  $("text").value = q.text;
  $("tools").value = q.tools ? JSON.stringify(q.tools, null, 1) : "";
  $("model").value = typeof q.model === "string" ? q.model : "";
  $("format").value = typeof q.format === "string" ? q.format : "";
  $("open").checked = q.reasoning_open === true;
  $("strict").checked = q.strict === true;
  $("lossy").checked = q.lossy === true;
  $("piece").value = String(q.piece ?? 6);
  explain();
}

// command is the shell command that gives the same; what would steer a terminal is escaped.
function command() {
  const quote = s => "'" + s.replaceAll("'", "'\\''") + "'";
  const escaped = $("text").value.replaceAll("\\", "\\\\").replace(new RegExp(unseen, "g"),
    c => [...bytes(c)].map(b => "\\0" + b.toString(8).padStart(3, "0")).join(""));
  const flag = (name, v) => v ? ` ${name} ${quote(v)}` : "";
  return `printf '%b' ${quote(escaped)} | callwright explain` + ($("tools").value.trim() ? " --tools tools.json" : "") + flag("--model", $("model").value) +
    flag("--format", $("format").value) + ($("open").checked ? " --reasoning-open" : "") + ($("strict").checked ? " --strict" : "") + ($("lossy").checked ? " --lossy" : "");
}

async function copy() {
  try {
    await navigator.clipboard.writeText(command());
    $("copy").textContent = "Copied";
    setTimeout(() => { $("copy").textContent = "Copy command"; }, 1500);
  } catch (e) {
    fail("The browser does not allow copying: " + e.message);
  }
}

function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
}
function toggleTheme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme(dark ? "light" : "dark");
  localStorage.setItem("callwright-theme", document.documentElement.dataset.theme);
}

// next focuses the next candidate, or the one before.
function next(step) {
  const tags = [...$("marked").querySelectorAll(".tag")];
  if (!tags.length) return;
  const now = tags.findIndex(b => Number(b.dataset.candidate) === chosen);
  const to = tags[(Math.max(now, step > 0 ? -1 : 0) + step + tags.length) % tags.length];
  to.focus();
  choose(Number(to.dataset.candidate));
}

const keys = {n: () => next(1), N: () => next(-1), " ": play, ArrowLeft: () => { stop(); move(at - 1); }, ArrowRight: () => { stop(); move(at + 1); },
  s: save, o: () => $("file").click(), y: copy, d: toggleTheme, "?": () => $("help").showModal()};
document.addEventListener("keydown", e => {
  const field = e.target.matches("textarea, select, input");
  if (e.key === "Escape" && field) { e.target.blur(); return; }
  if (field || e.ctrlKey || e.altKey || e.metaKey || $("help").open || !$("keyson").checked) return;
  if (e.key === " " && e.target.matches("button")) return;
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});
$("marked").addEventListener("click", e => {
  const b = e.target.closest(".tag");
  if (b) choose(Number(b.dataset.candidate));
});
for (const id of ["text", "tools", "model"]) $(id).addEventListener("input", later);
for (const id of ["format", "open", "strict", "lossy", "piece"]) $(id).addEventListener("change", explain);
$("slider").addEventListener("input", () => { stop(); move(Number($("slider").value)); });
$("play").addEventListener("click", play);
$("back").addEventListener("click", () => { stop(); move(at - 1); });
$("next").addEventListener("click", () => { stop(); move(at + 1); });
$("save").addEventListener("click", save);
$("load").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => { if ($("file").files.length) load($("file").files[0]); $("file").value = ""; });
$("copy").addEventListener("click", copy);
$("theme").addEventListener("click", toggleTheme);
$("keys").addEventListener("click", () => $("help").showModal());
$("close").addEventListener("click", () => $("help").close());
theme(localStorage.getItem("callwright-theme"));
render();
if ($("text").value) explain();
})();
