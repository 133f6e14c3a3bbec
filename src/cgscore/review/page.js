"use strict";
(() => {
// The page of `cgscore review`. Everything from the server is shown as text. A decision is sent at
// once, and shown as decided only when the server has saved it.

const { byId, make } = nodes;
const { ask, why } = requests;
const { state, numeric, rowOf, shown } = queue;
const say = (message) => { byId("message").textContent = message; };

function move(step) {
  const rows = shown();
  if (!rows.length) { state.at = null; return draw(); }
  const here = rows.findIndex((row) => row.at === state.at);
  state.at = rows[Math.min(rows.length - 1, Math.max(0, (here < 0 ? 0 : here + step)))].at;
  draw();
}

async function load() {
  const found = await ask("/api/review");
  const { ok, answer } = found;
  if (!ok) return say(`The review cannot be loaded: ${why(found)}`);
  for (const name of ["queue", "task", "classes", "pictures", "texts", "key", "fingerprint"]) state[name] = answer[name];
  state.version = answer.live.version;
  for (const link of document.querySelectorAll(".exports a")) link.search = `?key=${state.key}`;
  recall();
  byId("title").textContent = answer.title;
  byId("reviewer").textContent = answer.reviewer ? `Reviewer: ${answer.reviewer}` : "";
  byId("rescore").hidden = !answer.can_rescore;
  queue.showProgress(answer.progress);
  queue.showLive(answer.live);
  queue.fillPairs();
  if (state.at === null || !rowOf(state.at)) state.at = shown().length ? shown()[0].at : null;
  await draw();
  showUnsent();
  document.documentElement.dataset.ready = "yes";
  if (answer.live.state === "preparing") setTimeout(watchLive, 1000);
}

// What the background is doing, until it is done.
async function watchLive() {
  const { ok, answer } = await ask("/api/live");
  if (!ok) return;
  queue.showLive(answer);
  if (answer.state === "preparing") setTimeout(watchLive, 1500);
}

// Takes the new order over, if decisions have renewed it.
async function renewOrder(version) {
  if (version === undefined || version === state.version) return;
  const { ok, answer } = await ask("/api/review");
  if (!ok) return;
  state.version = answer.live.version;
  state.queue = answer.queue;
  queue.fillPairs();
  queue.showProgress(answer.progress);
  if (!state.grid && state.which === "open") state.at = shown().length ? shown()[0].at : null;
  byId("live").textContent = "Live order: updated with your decisions.";
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
  byId("resend").textContent = `Save ${unsent.size} unsaved decision${unsent.size === 1 ? "" : "s"}`;
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
    mine.push([answer.decision.number]);
    queue.showProgress(answer.progress);
  }
  remember();
  return found;
}

// Decides on several examples in one step, which is undone as one.
async function decideMany(rows, action) {
  if (!rows.length) return say("Nothing is selected.");
  const body = (row) => ({ at: row.at, action, label: action === "accept" ? (numeric() ? row.predicted : row.to) : null, known: row.decision ? row.decision.number : null });
  const found = await ask("/api/decisions/many", { decisions: rows.map(body) });
  const { ok, status, answer } = found;
  if (!ok) {
    if (status === 409) await load();
    return say(status === 409 ? "Not saved: another tab has decided on one of these examples in the meantime." : `Not saved: ${why(found)}`);
  }
  const saved = new Map(answer.decisions.map((one) => [one.position, one]));
  for (const row of rows) {
    row.decision = saved.get(row.at);
    unsent.delete(row.at);
  }
  mine.push(answer.decisions.map((one) => one.number));
  remember();
  selected.clear();
  queue.showProgress(answer.progress);
  await renewOrder(answer.version);
  await draw();
  say(`Saved: ${rows.length} ${{ accept: "accepted", keep: "kept", skip: "skipped" }[action]}. Undo takes all of them back.`);
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
    if (!state.grid) await renewOrder(answer.version);
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
  const numbers = [mine.at(-1)].flat();
  const found = await ask("/api/undo", { numbers });
  const { ok, status, answer } = found;
  if (!ok && status !== 409) return say(`Not undone: ${why(found)}`);
  mine.pop();
  remember();
  if (status === 409) {
    await load();
    return say("Not undone: there is a newer decision about this example.");
  }
  for (const one of answer.undone) {
    const row = rowOf(one.at);
    if (row) row.decision = one.decision;
  }
  queue.showProgress(answer.progress);
  const row = rowOf(answer.at);
  if (row && !state.grid) {
    state.at = row.at;
    if (!shown().includes(row)) {
      Object.assign(state, { which: "all", pair: "" });
      byId("which").value = "all";
      byId("pair").value = "";
    }
  }
  say(answer.undone.length > 1 ? `Undone: ${answer.undone.length} decisions.` : "Undone.");
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

async function further(random) {
  const found = await ask("/api/further", { count: 50, at_random: random });
  if (!found.ok) return say(`No further examples: ${why(found)}`);
  state.which = byId("which").value = "open";
  state.at = null;
  await load();
  say(`${found.answer.added.length} more examples, ${random ? "drawn at random" : "the most doubtful of the rest"}.`);
}

// ---------------------------------------------------------------- drawing

let drawing = 0;
let keys = new Map(); // digits of the classes of the example that is shown

async function drawOne() {
  const turn = ++drawing;
  state.drawn = null;
  if (state.at === null) return byId("one").replaceChildren(...views.nothing());
  const row = rowOf(state.at);
  if (!row) { state.at = null; return drawOne(); }
  const found = await ask(`/api/examples/${row.at}`);
  const { ok, answer } = found;
  if (turn !== drawing) return; // another example was requested in the meantime
  if (!ok) { say(`This example cannot be shown: ${why(found)}`); return; }
  // the verdict whose neighbours are shown
  for (const name of ["to", "sure", "predicted", "low", "high"]) if (name in answer) row[name] = answer[name];
  state.drawn = row.at;
  keys = numeric() ? new Map() : views.digits(answer.candidates);
  byId("one").replaceChildren(...views.one(row, answer, unsent.get(row.at), decide));
}

// ---------------------------------------------------------------- grid

const selected = new Set(); // positions
let cards = views.SHOWN;
let lastPicked = null;

const look = (row) => { state.at = row.at; state.grid = false; draw().then(() => byId("one").querySelector(".another").focus()); };

function select(row, checked, range) {
  const rows = shown().slice(0, cards);
  const [from, to] = [rows.findIndex((one) => one.at === lastPicked), rows.indexOf(row)];
  const picked = range && from >= 0 ? rows.slice(Math.min(from, to), Math.max(from, to) + 1) : [row];
  for (const one of picked) {
    if (checked) selected.add(one.at);
    else selected.delete(one.at);
  }
  lastPicked = row.at;
  for (const one of picked) redrawCard(one);
  showSelected();
}

const makeCard = (row) => views.card(row, unsent.get(row.at), selected.has(row.at), { decide, look, select });

// a decided card stays where it is, so that the next one does not slip under the pointer
function redrawCard(row) {
  const old = byId("grid-cards").querySelector(`[data-at="${row.at}"]`);
  if (!old) return;
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const fresh = makeCard(row);
  old.replaceWith(fresh);
  if (focused) fresh.querySelector(focused.tagName === "INPUT" ? "input" : `.${focused.className}`).focus();
}

function showSelected() {
  for (const id of ["many-accept", "many-keep", "many-skip"]) byId(id).disabled = selected.size === 0;
  byId("many-count").textContent = selected.size ? `${selected.size} selected` : "None selected";
}

function drawGrid() {
  const rows = shown();
  const drawn = rows.slice(0, cards);
  for (const at of [...selected]) if (!drawn.some((row) => row.at === at)) selected.delete(at);
  byId("grid-cards").replaceChildren(...drawn.map(makeCard));
  byId("grid-count").textContent = `${drawn.length} of ${rows.length} shown`;
  byId("grid-more").hidden = drawn.length >= rows.length;
  showSelected();
}

const chosenRows = () => shown().slice(0, cards).filter((row) => selected.has(row.at));

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
byId("rescore").addEventListener("click", rescore);
byId("further-doubtful").addEventListener("click", () => further(false));
byId("further-random").addEventListener("click", () => further(true));
byId("grid-more").addEventListener("click", () => { cards += views.SHOWN; drawGrid(); });
byId("many-all").addEventListener("click", () => { for (const row of shown().slice(0, cards)) selected.add(row.at); drawGrid(); });
byId("many-none").addEventListener("click", () => { selected.clear(); drawGrid(); });
for (const action of ["accept", "keep", "skip"]) byId(`many-${action}`).addEventListener("click", () => decideMany(chosenRows(), action));
window.addEventListener("beforeunload", (event) => { if (unsent.size) event.preventDefault(); });
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, textarea, input:not([type=checkbox])")) return;
  const one = !state.grid && state.at !== null;
  const many = state.grid && selected.size > 0;
  const act = (action) => () => (one ? decide(rowOf(state.at), action) : decideMany(chosenRows(), action));
  const known = {
    u: undo,
    g: () => byId("view").click(),
    ...((one || many) && { a: act("accept"), k: act("keep"), s: act("skip") }),
    ...(one && { c: () => byId("one").querySelector(".another").focus(), ArrowRight: () => move(1), ArrowLeft: () => move(-1) }),
    ...(one && Object.fromEntries([...keys].map(([digit, c]) => [digit, () => decide(rowOf(state.at), "change", c)]))),
  };
  if (known[event.key]) { event.preventDefault(); known[event.key](); }
});

load();
})();
