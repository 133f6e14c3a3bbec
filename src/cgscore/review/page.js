"use strict";
(() => {
// The page of `cgscore review`: what the server says is shown as text, what is decided is sent at
// once, and shown as decided only when the server has it on disk.

const SHOWN = 60; // cards in the grid
const byId = (id) => document.getElementById(id);
const state = { queue: [], classes: [], pictures: false, at: null, grid: false, pair: "", which: "open", busy: false, drawn: null };

function make(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

const text = (value, cls) => make("bdi", { className: cls || "", title: value }, value);
const label = (c, cls) => text(state.classes[c], `label ${cls || ""}`);
const percent = (value) => `${Math.round(100 * value)} %`;
const say = (message) => { byId("message").textContent = message; };

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, options);
  const answer = await response.json().catch(() => ({}));
  return { ok: response.ok, status: response.status, answer };
}

// ---------------------------------------------------------------- the queue

function shown() {
  return state.queue.filter((row) => {
    if (state.pair !== "" && `${row.from}-${row.to}` !== state.pair) return false;
    return state.which === "all" || (state.which === "open") === (row.decision === null);
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
  for (const row of state.queue) {
    const key = `${row.from}-${row.to}`;
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const options = [...counts].sort((a, b) => b[1] - a[1]).map(([key, count]) => {
    const [from, to] = key.split("-").map(Number);
    return make("option", { value: key }, `${state.classes[from]} → ${state.classes[to]} (${count})`);
  });
  byId("pair").replaceChildren(make("option", { value: "" }, `all (${state.queue.length})`), ...options);
  if (!counts.has(state.pair)) state.pair = "";
  byId("pair").value = state.pair;
}

function progress(found) {
  const { counts, open, taught } = found;
  const done = counts.accept + counts.keep + counts.change + counts.skip;
  byId("bar").max = done + open || 1;
  byId("bar").value = done;
  byId("progress").textContent = `${done} decided (${counts.accept} accepted, ${counts.change} changed otherwise, ${counts.keep} kept, ${counts.skip} skipped), ${open} open`;
  const range = (one) => `${percent(one.share)} (95 %: ${percent(one.low)} to ${percent(one.high)})`;
  byId("taught").textContent = taught
    ? `So far ${range(taught.wrong)} of the suspected labels were wrong, and the suggested label was right for ${range(taught.right_label)} of them all.`
    : "";
}

async function load() {
  const { ok, answer } = await ask("/api/review");
  if (!ok) return say("The server does not answer.");
  Object.assign(state, { queue: answer.queue, classes: answer.classes, pictures: answer.pictures });
  byId("title").textContent = answer.title;
  byId("rescore").hidden = !answer.can_rescore;
  progress(answer.progress);
  pairs();
  if (state.at === null || !rowOf(state.at)) state.at = shown().length ? shown()[0].at : null;
  draw();
  document.documentElement.dataset.ready = "yes";
}

// ---------------------------------------------------------------- decisions

async function decide(at, action, chosen) {
  if (state.busy || (!state.grid && state.drawn !== at)) return;
  state.busy = true;
  const row = rowOf(at);
  const rows = shown();
  const after = rows[rows.findIndex((one) => one.at === at) + 1];
  const body = { at, action, label: chosen ?? null, known: row.decision ? row.decision.number : null };
  try {
    const { ok, status, answer } = await ask("/api/decisions", body);
    if (ok || status === 409) row.decision = answer.decision;
    if (ok) {
      progress(answer.progress);
      say(`Saved: ${action}.`);
      if (!state.grid && state.which === "open") state.at = after ? after.at : shown().length ? shown()[0].at : null;
    } else if (status === 409) {
      say("Another tab decided on this example in the meantime. Look at it, and decide again if you like.");
      state.which = "all";
      byId("which").value = "all";
    } else say(`Not saved: ${JSON.stringify(answer.detail ?? status)}`);
  } catch {
    say("Not saved: the server does not answer.");
  }
  await draw();
  state.busy = false;
}

async function undo() {
  const { ok, answer } = await ask("/api/undo", {});
  if (!ok) return say("Not taken back.");
  if (answer.taken_back === null) return say("There is nothing to undo.");
  await load();
  state.at = answer.taken_back.position;
  if (state.which === "decided") state.which = byId("which").value = "all";
  say("Taken back.");
  draw();
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
    if (answer.state === "failed") { say(`Not scored: ${answer.why}`); return; }
    await load();
    say(`Scored again: the verdict on ${answer.changed} labels changed.`);
    return;
  }
}

// ---------------------------------------------------------------- drawing

function picture(at, description) {
  return state.pictures ? make("img", { src: `/pictures/${at}`, alt: description, loading: "lazy" }) : null;
}

function verdict(row) {
  const sure = row.sure === null ? "" : ` · ${percent(row.sure)} sure`;
  return make("p", {}, label(row.from, "given"), " → ", label(row.to, "suggested"), sure);
}

function outcome(row) {
  if (!row.decision) return null;
  const words = { accept: "accepted", keep: "kept", change: "changed to", skip: "skipped" };
  return make("p", { className: "decided" }, `Decided: ${words[row.decision.action]} `, row.decision.action === "skip" ? "" : label(row.decision.label));
}

function actions(row, keys) {
  const key = (letter) => (keys ? make("kbd", {}, letter) : "");
  const select = make("select", { "aria-label": "Another class", className: "another", onchange: (event) => {
    if (event.target.value !== "") decide(row.at, "change", Number(event.target.value));
  } }, make("option", { value: "" }, "another class …"), ...state.classes.map((name, c) => make("option", { value: String(c) }, name)));
  return make("div", { className: "actions", role: "group", "aria-label": "Decision" },
    make("button", { type: "button", className: "accept", onclick: () => decide(row.at, "accept") }, "Accept ", key("a")),
    make("button", { type: "button", className: "keep", onclick: () => decide(row.at, "keep") }, "Keep ", key("k")),
    select,
    make("button", { type: "button", className: "skip-it", onclick: () => decide(row.at, "skip") }, "Skip ", key("s")));
}

let drawing = 0;

async function drawOne() {
  const turn = ++drawing;
  const place = byId("one");
  state.drawn = null;
  if (state.at === null) {
    place.replaceChildren(make("h2", { id: "one-title" }, "Nothing to decide here"), make("p", {}, "Every suspect of this selection is decided. Export the labels above, or show the decided ones."));
    return;
  }
  const row = rowOf(state.at);
  const { ok, answer } = await ask(`/api/examples/${row.at}`);
  if (turn !== drawing) return; // another one was asked for meanwhile
  if (!ok) { say("This example cannot be shown."); return; }
  const side = (name, c) => make("div", {}, make("p", {}, "Most similar of ", label(c)),
    make("ul", { className: "strip" }, ...answer[name].map((one) => make("li", { title: one.id }, picture(one.at, `example ${one.id}`) || text(one.id, "name"), make("br"), one.similarity.toFixed(3)))));
  const columns = answer.columns.length
    ? make("table", {}, make("tbody", {}, ...answer.columns.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, text(name)), make("td", { className: "text" }, text(value))))))
    : null;
  state.drawn = row.at;
  const places = shown();
  const here = places.findIndex((one) => one.at === row.at);
  place.replaceChildren(
    make("h2", { id: "one-title", tabIndex: -1 }, text(answer.id, "name")),
    make("div", { className: "shown" },
      make("div", {}, picture(row.at, `example ${answer.id}`), columns),
      make("div", {}, make("p", { className: "hint" }, here < 0 ? "" : `${here + 1} of ${places.length}`), verdict(row), outcome(row), actions(row, true),
        make("div", { className: "sides" }, side("suggested", row.to), side("given", row.from)))));
}

function drawGrid() {
  const rows = shown().slice(0, SHOWN);
  byId("grid").replaceChildren(
    make("ul", { className: "gallery" }, ...rows.map((row) => make("li", { className: "card", "data-at": String(row.at) }, picture(row.at, `example ${row.at}`), verdict(row), outcome(row), actions(row, false)))),
    make("p", { className: "hint" }, `${rows.length} of ${shown().length} shown`));
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
byId("rescore").addEventListener("click", rescore);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, textarea")) return;
  const one = !state.grid && state.at !== null;
  const keys = {
    u: undo,
    g: () => byId("view").click(),
    ...(one && { a: () => decide(state.at, "accept"), k: () => decide(state.at, "keep"), s: () => decide(state.at, "skip"), c: () => byId("one").querySelector(".another").focus(), ArrowRight: () => move(1), ArrowLeft: () => move(-1) }),
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

load();
})();
