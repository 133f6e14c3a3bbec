"use strict";
(() => {
// The page of `cgscore review`. Everything from the server is shown as text. A decision is sent at
// once, and shown as decided only when the server has saved it.

const SHOWN = 60; // cards in the grid
const { byId, make, text } = nodes;
const state = { queue: [], task: "", classes: [], pictures: false, at: null, grid: false, pair: "", which: "open", drawn: null, key: "", fingerprint: "" };
const tab = sessionStorage.getItem("cgscore-tab") || ""; // without it the server answers nothing

const numeric = () => state.task === "regression"; // labels are numbers, and not classes
const number = (value) => (value === null ? "–" : String(Number(value.toPrecision(6))));
const label = (c, cls) => text(numeric() ? number(c) : state.classes[c], `label ${cls || ""}`);
const sure = (value) => (value >= 0.995 ? "> 99 %" : percent(value));
const percent = (value) => `${Math.round(100 * value)} %`;
const say = (message) => { byId("message").textContent = message; };

async function ask(path, body) {
  const headers = { "X-CGScore-Tab": tab };
  const options = body === undefined ? { headers } : { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
  try {
    const response = await fetch(path, options);
    const words = await response.text();
    let answer = {};
    try { answer = JSON.parse(words); } catch { answer = { detail: words }; }
    return { ok: response.ok, status: response.status, answer };
  } catch {
    return { ok: false, status: 0, answer: { detail: "the server does not answer." } };
  }
}

const why = ({ status, answer }) => answer.detail || `the server answers ${status}.`;

// ---------------------------------------------------------------- the queue

function shown() {
  return state.queue.filter((row) => {
    if (state.pair !== "" && `${row.from}-${row.to}` !== state.pair) return false;
    if (state.which === "conflicts") return row.conflict !== null;
    if (state.which === "open") return row.flagged && row.decision === null;
    return state.which === "all" || row.decision !== null;
  });
}

const rowOf = (at) => state.queue.find((row) => row.at === at);

function move(step) {
  const rows = shown();
  if (!rows.length) { state.at = null; return draw(); }
  const here = rows.findIndex((row) => row.at === state.at);
  state.at = rows[Math.min(rows.length - 1, Math.max(0, (here < 0 ? 0 : here + step)))].at;
  draw();
}

function pairs() {
  const counts = new Map();
  byId("pair").parentElement.hidden = numeric();
  for (const row of numeric() ? [] : state.queue) {
    const key = `${row.from}-${row.to}`;
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const options = [...counts].sort((a, b) => b[1] - a[1]).map(([key, count]) => {
    const [from, to] = key.split("-").map(Number);
    return make("option", { value: key }, `${state.classes[from]} → ${state.classes[to]} (${count})`);
  });
  byId("pair").replaceChildren(make("option", { value: "" }, `all (${state.queue.length})`), ...options);
  byId("which").querySelector("[value=conflicts]").hidden = !state.queue.some((row) => row.conflict !== null);
  if (!counts.has(state.pair)) state.pair = "";
  byId("pair").value = state.pair;
}

function progress(found) {
  const { counts, open, taught } = found;
  const done = counts.accept + counts.keep + counts.change + counts.skip;
  byId("bar").max = done + open || 1;
  byId("bar").value = done;
  byId("progress").textContent = `${done} decided (${counts.accept} accepted, ${counts.change} changed to another class, ${counts.keep} kept, ${counts.skip} skipped), ${open} open`;
  const range = (one) => `${percent(one.share)} (95 %: ${percent(one.low)} to ${percent(one.high)})`;
  byId("taught").textContent = taught
    ? `So far ${range(taught.wrong)} of the suspected labels were wrong, and the suggested label was right for ${range(taught.right_label)} of the suspects.`
    : "";
}

async function load() {
  const found = await ask("/api/review");
  const { ok, answer } = found;
  if (!ok) return say(`The review cannot be loaded: ${why(found)}`);
  Object.assign(state, { queue: answer.queue, task: answer.task, classes: answer.classes, pictures: answer.pictures, key: answer.key, fingerprint: answer.fingerprint });
  for (const link of document.querySelectorAll(".exports a")) link.search = `?key=${state.key}`;
  recall();
  byId("title").textContent = answer.title;
  byId("rescore").hidden = !answer.can_rescore;
  progress(answer.progress);
  pairs();
  if (state.at === null || !rowOf(state.at)) state.at = shown().length ? shown()[0].at : null;
  await draw();
  showUnsent();
  document.documentElement.dataset.ready = "yes";
}

// ---------------------------------------------------------------- decisions

// What this tab decided, for undoing; other tabs undo their own. And what could not be saved yet, by
// example. Both are kept with the tab, for the data they are about: they survive a server that is
// stopped and started again on the same port.
let mine = [];
let unsent = new Map();
const pending = new Set(); // examples whose decision is on its way

function recall() {
  mine = JSON.parse(sessionStorage.getItem(`decided-${state.fingerprint}`) || "[]");
  unsent = new Map(JSON.parse(sessionStorage.getItem(`unsent-${state.fingerprint}`) || "[]"));
}

function remember() {
  sessionStorage.setItem(`decided-${state.fingerprint}`, JSON.stringify(mine));
  sessionStorage.setItem(`unsent-${state.fingerprint}`, JSON.stringify([...unsent]));
  showUnsent();
}

function showUnsent() {
  byId("resend").hidden = unsent.size === 0;
  byId("resend").textContent = `Save ${unsent.size} unsaved`;
}

// Sends a decision. It counts as decided only when the server says so; until then it is unsent.
async function send(row, body) {
  const found = await ask("/api/decisions", body);
  const { ok, status, answer } = found;
  if (ok || status === 409) {
    row.decision = answer.decision;
    unsent.delete(row.at);
  } else if (status === 422) unsent.delete(row.at); // it can never be saved
  else unsent.set(row.at, body);
  if (ok) {
    mine.push(answer.decision.number);
    progress(answer.progress);
  }
  remember();
  return found;
}

async function resend() {
  byId("resend").disabled = true;
  let count = 0;
  let failed = null;
  for (const [at, body] of [...unsent]) {
    const row = rowOf(at);
    if (!row || pending.has(at)) continue;
    pending.add(at);
    const found = await send(row, body);
    pending.delete(at);
    if (found.ok) count += 1;
    else failed = found;
    if (unsent.has(at)) break;
  }
  byId("resend").disabled = false;
  await draw();
  if (failed === null) say(`Saved: ${count} more.`);
  else if (failed.status === 409) say("Another tab has decided on some of these examples in the meantime.");
  else say(`Not saved: ${why(failed)}`);
}

async function decide(row, action, chosen) {
  const at = row.at;
  if (pending.has(at) || (!state.grid && (state.drawn !== at || pending.size))) return;
  pending.add(at);
  const rows = shown();
  const after = rows[rows.findIndex((one) => one.at === at) + 1];
  const seen = action === "accept" ? (numeric() ? row.predicted : row.to) : (chosen ?? null);
  const body = { at, action, label: seen, known: row.decision ? row.decision.number : null };
  const found = await send(row, body);
  const { ok, status, answer } = found;
  if (ok) {
    say(`Saved: ${answer.decision.action}.`);
    if (!state.grid && state.which === "open") state.at = after ? after.at : shown().length ? shown()[0].at : null;
  } else if (status === 409) {
    say("Another tab has decided on this example in the meantime. Check its decision, and decide again if you disagree.");
    state.which = "all";
    byId("which").value = "all";
  } else say(`Not saved: ${why(found)}`);
  if (state.grid) redrawCard(row);
  else {
    await draw();
    const title = byId("one-title");
    if (title) title.focus();
    if (!ok && status !== 409) say(`Not saved: ${why(found)}`); // after any message of drawing
  }
  pending.delete(at);
}

async function undo() {
  if (!mine.length) return say("There is nothing to undo in this tab.");
  const number = mine.at(-1);
  const found = await ask("/api/undo", { number });
  const { ok, status, answer } = found;
  if (!ok && status !== 409) return say(`Not undone: ${why(found)}`);
  mine.pop();
  remember();
  if (status === 409) {
    await load();
    return say("Not undone: there is a newer decision about this example.");
  }
  const row = rowOf(answer.at);
  if (row) row.decision = answer.decision;
  progress(answer.progress);
  if (row && !state.grid) {
    state.at = row.at;
    if (!shown().includes(row)) {
      Object.assign(state, { which: "all", pair: "" });
      byId("which").value = "all";
      byId("pair").value = "";
    }
  }
  say("Undone.");
  await draw();
}

async function rescore() {
  byId("rescore").disabled = true;
  say("Scoring again …");
  await ask("/api/rescore", {});
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { answer } = await ask("/api/rescore");
    if (answer.state === "running") continue;
    byId("rescore").disabled = false;
    if (answer.state !== "done") { say(`Not scored: ${answer.why || answer.detail || "the server does not answer."}`); return; }
    await load();
    say(`Scored and ranked again; ${answer.changed} more labels are suspected.`);
    return;
  }
}

// ---------------------------------------------------------------- drawing

function picture(at, description) {
  return state.pictures ? make("img", { src: `/pictures/${at}?key=${state.key}`, alt: description, loading: "lazy" }) : null;
}

function verdict(row) {
  const words = row.sure === null ? "" : ` · ${sure(row.sure)} sure`;
  if (numeric()) return make("p", {}, label(row.value, "given"), " → ", label(row.predicted, "suggested"), ` (95 %: ${number(row.low)} to ${number(row.high)})${words}`);
  return make("p", {}, label(row.from, "given"), " → ", label(row.to, "suggested"), words);
}

// Identical inputs with different labels: which examples share this one's input, and their labels.
function conflict(row) {
  if (row.conflict === null) return null;
  const others = state.queue.filter((other) => other.conflict === row.conflict && other.at !== row.at);
  return make("p", { className: "conflict" }, "Identical to ", ...others.flatMap((other) => [text(other.id, "name"), " (", label(other.from), ") "]), row.flagged ? "" : "as often under one label as under another: undecidable");
}

function outcome(row) {
  const words = { accept: "accepted", keep: "kept", change: "changed to", skip: "skipped" };
  const waiting = unsent.get(row.at);
  if (waiting) return make("p", { className: "unsaved" }, `Not saved yet: ${words[waiting.action]} `, waiting.label === null ? "" : label(waiting.label));
  if (!row.decision) return null;
  return make("p", { className: "decided" }, `Decided: ${words[row.decision.action]} `, row.decision.action === "skip" ? "" : label(row.decision.label));
}

function button(cls, words, act, letter) {
  return make("button", { type: "button", className: cls, onclick: act }, `${words} `, letter ? make("kbd", {}, letter) : "");
}

function actions(row) {
  const select = numeric()
    ? make("input", { type: "number", step: "any", "aria-label": "Another value", placeholder: "another value", className: "another" })
    : make("select", { "aria-label": "Another class", className: "another" },
      make("option", { value: "" }, "another class …"), ...state.classes.map((name, c) => make("option", { value: String(c) }, name)));
  const change = () => { if (select.value !== "") decide(row, "change", Number(select.value)); };
  select.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); change(); } });
  return make("div", { className: "actions", role: "group", "aria-label": "Decision" },
    button("accept", "Accept", () => decide(row, "accept"), "a"),
    button("keep", "Keep", () => decide(row, "keep"), "k"),
    button("skip-it", "Skip", () => decide(row, "skip"), "s"),
    select,
    button("change", "Change", change));
}

function cardActions(row) {
  const look = () => { state.at = row.at; state.grid = false; draw().then(() => byId("one").querySelector(".another").focus()); };
  return make("div", { className: "actions", role: "group", "aria-label": `Decision on ${row.id}` },
    button("accept", "Accept", () => decide(row, "accept")),
    button("keep", "Keep", () => decide(row, "keep")),
    button("skip-it", "Skip", () => decide(row, "skip")),
    button("look", "Other …", look));
}

let drawing = 0;

async function drawOne() {
  const turn = ++drawing;
  const place = byId("one");
  state.drawn = null;
  if (state.at === null) {
    place.replaceChildren(make("h2", { id: "one-title" }, "Nothing to decide here"), make("p", {}, "Every suspect in this selection is decided. Export the labels above, or show decided examples."));
    return;
  }
  const row = rowOf(state.at);
  if (!row) { state.at = null; return drawOne(); }
  const found = await ask(`/api/examples/${row.at}`);
  const { ok, answer } = found;
  if (turn !== drawing) return; // another example was requested in the meantime
  if (!ok) { say(`This example cannot be shown: ${why(found)}`); return; }
  // the verdict whose neighbours are shown
  for (const name of ["to", "sure", "predicted", "low", "high"]) if (name in answer) row[name] = answer[name];
  const side = (name, c) => make("div", {}, c === null ? make("p", {}, "Most similar") : make("p", {}, "Most similar of ", label(c)),
    make("ul", { className: "strip" }, ...answer[name].map((one) => make("li", { title: one.id }, picture(one.at, `example ${one.id}`) || text(one.id, "name"), make("br"), numeric() ? `${one.label} (${one.similarity.toFixed(3)})` : one.similarity.toFixed(3)))));
  const named = (name) => (answer[name] || []).map((one) => cells(one, `${one.id} (${one.label})`));
  const cells = (one, name) => make("tr", {}, make("th", { scope: "row" }, text(name, "name")), ...one.cells.map((value) => make("td", { className: "text" }, text(value, "name"))));
  const columns = answer.columns.length
    ? make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Values" }, make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col", className: "text" }, "example"), ...answer.columns.map((name) => make("th", { scope: "col", className: "text" }, text(name, "name"))))),
      make("tbody", {}, cells(answer, `${answer.id} (this)`),
        ...named("suggested"), ...named("given"), ...named("similar"))))
    : null;
  state.drawn = row.at;
  const places = shown();
  const here = places.findIndex((one) => one.at === row.at);
  place.replaceChildren(
    make("h2", { id: "one-title", tabIndex: -1 }, text(answer.id, "name")),
    make("div", { className: state.pictures ? "shown" : "" },
      state.pictures ? make("div", {}, picture(row.at, `example ${answer.id}`)) : null,
      make("div", {}, make("p", { className: "hint" }, here < 0 ? "" : `${here + 1} of ${places.length}`), verdict(row), conflict(row), outcome(row), actions(row), columns,
        make("div", { className: "sides" }, ...(numeric() ? [side("similar", null)] : [side("suggested", row.to), side("given", row.from)])))));
}

function card(row) {
  return make("li", { className: "card", "data-at": String(row.at) }, picture(row.at, `example ${row.id}`), verdict(row), make("p", {}, text(row.id, "name")),
    ...row.cells.map((value) => make("p", {}, text(value, "name"))), conflict(row), outcome(row), cardActions(row));
}

// a decided card stays where it is, so that the next one does not slip under the pointer
function redrawCard(row) {
  const old = byId("grid").querySelector(`[data-at="${row.at}"]`);
  if (!old) return;
  const focused = old.contains(document.activeElement) ? document.activeElement.className : null;
  const fresh = card(row);
  old.replaceWith(fresh);
  if (focused) fresh.querySelector(`.${focused}`).focus();
}

let cards = SHOWN;

function drawGrid() {
  const rows = shown();
  const more = button("more", "Show more", () => { cards += SHOWN; drawGrid(); });
  byId("grid").replaceChildren(
    make("ul", { className: "gallery" }, ...rows.slice(0, cards).map(card)),
    make("p", { className: "hint" }, `${Math.min(cards, rows.length)} of ${rows.length} shown `, cards < rows.length ? more : ""));
}

// While an example is on its way nothing can be decided: what is decided is what is seen.
async function draw() {
  byId("one").hidden = state.grid;
  byId("grid").hidden = !state.grid;
  byId("view").setAttribute("aria-pressed", String(state.grid));
  if (state.grid) drawGrid();
  else await drawOne();
}

// ---------------------------------------------------------------- controls

byId("pair").addEventListener("change", (event) => { state.pair = event.target.value; state.at = null; move(0); });
byId("which").addEventListener("change", (event) => { state.which = event.target.value; state.at = null; move(0); });
byId("view").addEventListener("click", () => { state.grid = !state.grid; draw(); });
byId("undo").addEventListener("click", undo);
byId("resend").addEventListener("click", resend);
window.addEventListener("beforeunload", (event) => { if (unsent.size) event.preventDefault(); });
byId("rescore").addEventListener("click", rescore);
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, textarea")) return;
  const one = !state.grid && state.at !== null;
  const keys = {
    u: undo,
    g: () => byId("view").click(),
    ...(one && { a: () => decide(rowOf(state.at), "accept"), k: () => decide(rowOf(state.at), "keep"), s: () => decide(rowOf(state.at), "skip"), c: () => byId("one").querySelector(".another").focus(), ArrowRight: () => move(1), ArrowLeft: () => move(-1) }),
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

load();
})();
