"use strict";
// How one example and a grid of examples are shown; what happens on a click is given by the page.

const views = (() => {
  const { byId, make, text } = nodes;
  const { state, numeric, number, percent, rowOf, shown } = queue;
  const SHOWN = 60; // cards in the grid
  const MIN_PIXELATED = 16; // pixels of a side; below that squares would hide what is drawn
  const MAX_PIXELATED = 64;

  const label = (c, cls) => text(numeric() ? number(c) : state.classes[c], `label ${cls || ""}`);
  const sure = (value) => (value >= 0.995 ? "> 99 %" : percent(value));

  function picture(at, description) {
    if (!state.pictures) return null;
    const made = make("img", { src: `/pictures/${at}?key=${state.key}`, alt: description, loading: "lazy" });
    made.addEventListener("load", () => made.classList.toggle("drawing", made.naturalWidth >= MIN_PIXELATED && made.naturalWidth <= MAX_PIXELATED));
    return made;
  }

  function verdict(row) {
    const words = row.sure === null ? "" : ` ${sure(row.sure)} sure`;
    if (numeric()) return make("p", { className: "change" }, label(row.value, "given"), " → ", label(row.predicted, "suggested"), make("span", { className: "meta" }, ` (95 %: ${number(row.low)} to ${number(row.high)})${words}`));
    return make("p", { className: "change" }, label(row.from, "given"), " → ", label(row.to, "suggested"), make("span", { className: "meta" }, words));
  }

  // Identical inputs with different labels: which examples share this one's input, and their labels.
  function conflict(row) {
    if (row.conflict === null) return null;
    const others = state.queue.filter((other) => other.conflict === row.conflict && other.at !== row.at);
    return make("p", { className: "conflict" }, "Identical to ", ...others.flatMap((other) => [text(other.id, "name"), " (", label(other.from), ") "]), row.flagged ? "" : "– the labels are equally frequent: undecidable");
  }

  function votes(row) {
    if (!row.votes.length) return null;
    return make("p", { className: "unsaved" }, "Reviewers disagree: ", ...row.votes.flatMap((vote, i) => [i ? ", " : "", text(vote.reviewer || "unnamed"), " chose ", label(vote.label)]));
  }

  function outcome(row, waiting) {
    const words = { accept: "accepted", keep: "kept", change: "changed to", skip: "skipped" };
    if (waiting) return make("p", { className: "unsaved" }, `Not saved yet: ${words[waiting.action]} `, waiting.label === null ? "" : label(waiting.label));
    if (!row.decision) return null;
    return make("p", { className: "decided" }, `Decided: ${words[row.decision.action]} `, row.decision.action === "skip" ? "" : label(row.decision.label), row.decision.reviewer ? make("span", {}, " by ", text(row.decision.reviewer)) : null);
  }

  function button(cls, words, act, letter) {
    return make("button", { type: "button", className: cls, onclick: act }, `${words} `, letter ? make("kbd", {}, letter) : "");
  }

  // The digit of each class: that in its name if all names end with one of their own, else its place.
  function digits(candidates) {
    const own = state.classes.map((name) => (/(?:^|\D)([0-9])$/.exec(name) || [])[1]);
    const named = state.classes.length <= 10 && !own.includes(undefined) && new Set(own).size === own.length;
    return new Map(candidates.map((c, i) => [named ? own[c] : String((i + 1) % 10), c]));
  }

  function classButtons(row, candidates, decide) {
    if (!candidates.length) return null;
    return make("div", { className: "classes", role: "group", "aria-label": "Choose the class" },
      ...[...digits(candidates)].map(([digit, c]) => make("button", { type: "button", className: `class-key ${c === row.from ? "is-given" : c === row.to ? "is-suggested" : ""}`, onclick: () => decide(row, "change", c) }, make("kbd", {}, digit), " ", text(state.classes[c], "label"))));
  }

  function actions(row, decide) {
    const select = numeric()
      ? make("input", { type: "number", step: "any", "aria-label": "Another value", placeholder: "another value", className: "another" })
      : make("select", { "aria-label": "Another class", className: "another" },
        make("option", { value: "" }, "another class …"), ...state.classes.map((name, c) => make("option", { value: String(c) }, name)));
    const change = () => { if (select.value !== "") decide(row, "change", Number(select.value)); };
    select.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); change(); } });
    return make("div", { className: "actions", role: "group", "aria-label": "Decision" },
      button("accept main", "Accept", () => decide(row, "accept"), "a"),
      button("keep", "Keep", () => decide(row, "keep"), "k"),
      button("skip-it", "Skip", () => decide(row, "skip"), "s"),
      make("span", { className: "choose" }, select, button("change", "Change", change)));
  }

  // The columns of this example as rows, beside what is typical of both classes and the neighbours.
  function columns(answer, near) {
    if (!answer.columns.length) return null;
    const first = state.texts ? 1 : 0; // a text is shown on its own
    if (answer.columns.length <= first) return null;
    const typical = answer.typical.length > 0;
    const mark = (i) => ({ 1: "for", "-1": "against" })[answer.fits[i]] || "";
    const classHeads = typical ? [make("th", { scope: "col", className: "text" }, "typical of ", label(answer.to)), make("th", { scope: "col", className: "text" }, "typical of ", label(answer.from))] : [];
    const shownNear = state.texts ? [] : near;
    return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Values" }, make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col", className: "text" }, "column"), make("th", { scope: "col", className: "text" }, "this example"), ...classHeads,
        ...shownNear.map((one) => make("th", { scope: "col", className: "text" }, text(`${one.id} (${one.label})`, "name"))))),
      make("tbody", {}, ...answer.columns.slice(first).map((name, j) => {
        const i = j + first;
        const pair = (answer.typical[i] || ["", ""]).map((value) => make("td", { className: "text" }, text(value, "name")));
        return make("tr", {}, make("th", { scope: "row" }, text(name, "name")), make("td", { className: `text ${mark(i)}` }, text(answer.cells[i], "name")),
          ...(typical ? pair : []), ...shownNear.map((one) => make("td", { className: "text" }, text(one.cells[i], "name"))));
      }))));
  }

  function side(answer, name, c) {
    const shownAs = (one) => picture(one.at, `example ${one.id}`) || (state.texts ? text(one.cells[0] || one.id, "quote") : text(one.id, "name"));
    return make("div", {}, c === null ? make("p", { className: "meta" }, "Most similar") : make("p", { className: "meta" }, "Most similar of ", label(c)),
      make("ul", { className: "strip" }, ...answer[name].map((one) => make("li", { title: one.id, className: state.texts ? "words" : "" }, shownAs(one), make("span", { className: "meta" }, ` ${numeric() ? `${one.label} (${one.similarity.toFixed(3)})` : one.similarity.toFixed(3)}`)))));
  }

  function one(row, answer, waiting, decide) {
    const places = shown();
    const here = places.findIndex((other) => other.at === row.at);
    const sides = numeric() ? [["similar", null]] : [["suggested", row.to], ["given", row.from]];
    const near = sides.flatMap(([name]) => answer[name] || []);
    const large = state.pictures ? picture(row.at, `example ${answer.id}`) : state.texts ? make("div", { className: "whole-text", tabIndex: 0, role: "region", "aria-label": "Text" }, text(answer.cells[0])) : null;
    return [
      make("div", { className: "one-head" }, make("h2", { id: "one-title", tabIndex: -1 }, text(answer.id, "name")), make("p", { className: "meta" }, here < 0 ? "" : `${here + 1} of ${places.length}`)),
      make("div", { className: state.pictures ? "shown" : "" },
        large ? make("div", { className: "large" }, large) : null,
        make("div", {}, verdict(row), conflict(row), votes(row), outcome(row, waiting), actions(row, decide), classButtons(row, answer.candidates, decide), columns(answer, near),
          make("div", { className: "sides" }, ...sides.map(([name, c]) => side(answer, name, c))))),
    ];
  }

  function nothing() {
    return [make("h2", { id: "one-title" }, "Nothing to decide here"), make("p", {}, "Every suspect in this selection is decided. Export the labels, look further, or show decided examples.")];
  }

  function card(row, waiting, selected, { decide, look, select }) {
    const box = make("input", { type: "checkbox", checked: selected, "aria-label": `Select ${row.id}` });
    box.addEventListener("click", (event) => select(row, box.checked, event.shiftKey));
    return make("li", { className: `card ${selected ? "is-selected" : ""}`, "data-at": String(row.at) },
      state.pictures ? make("button", { type: "button", className: "zoom", "aria-label": `Look at ${row.id}`, onclick: () => look(row) }, picture(row.at, `example ${row.id}`)) : null,
      make("div", { className: "body" },
        make("label", { className: "pick" }, box, " ", text(row.id, "name")),
        verdict(row),
        ...row.cells.map((value, i) => make("p", {}, text(value, state.texts && i === 0 ? "quote" : "name"))), conflict(row), votes(row), outcome(row, waiting),
        make("div", { className: "actions", role: "group", "aria-label": `Decision on ${row.id}` },
          button("accept", "Accept", () => decide(row, "accept")),
          button("keep", "Keep", () => decide(row, "keep")),
          button("skip-it", "Skip", () => decide(row, "skip")),
          button("look", "Other …", () => look(row)))));
  }

  return { SHOWN, one, nothing, card, button, digits, rowOf };
})();
