"use strict";
(() => {
// The page of `cgscore report`, drawn from the embedded document.

const { byId, make, text } = nodes;

function header() {
  document.title = `cgscore report: ${report.title}`;
  byId("title").textContent = report.title;
  byId("verdict").textContent = report.verdict;
  byId("figures").textContent = report.figures;
  byId("next").append(
    ...report.next.map((step) =>
      make("li", {}, make("span", {}, text(step.text), " ", step.command ? make("code", {}, step.command) : step.at ? make("a", { href: `#${step.at}` }, "See below") : null)),
    ),
  );
  for (const [name, value] of report.facts) {
    byId("facts").append(make("dt", {}, name), make("dd", {}, text(value)));
  }
  byId("notes").append(...report.notes.map((note) => make("p", { className: "note" }, text(note))));
  for (const section of document.querySelectorAll("main > section")) {
    if (section.hidden) continue;
    const title = section.dataset.short || section.querySelector("h2").textContent;
    byId("contents").append(make("li", {}, make("a", { href: `#${section.id}` }, title)));
  }
}

// What the page says of classes, in the words for numbers.
function words() {
  byId("suspects-title").textContent = "Suspected values";
  byId("scatter-title").textContent = "Predicted against given values";
  byId("scatter").querySelector(".hint").textContent = "Right values lie near the diagonal. Drag to zoom, double-click to reset.";
  byId("sort").querySelector("[value=from]").textContent = "given value";
  byId("sort").querySelector("[value=to]").textContent = "predicted value";
  byId("spread-title").textContent = "CG";
  byId("extremes").querySelector(".hint").textContent = "The lowest and the highest CG: what is typical, and what is not.";
  for (const id of ["extreme-class", "histogram-class", "scatter-class"]) byId(id).parentElement.hidden = true;
  for (const node of [byId("class-plot").parentElement, byId("class-table"), byId("class-hint"), byId("pruning")]) node.hidden = true;
}

if (values.regression) words();
suspects.start();
tables.sources();
confusion.start();
tables.beside();
byId("example-map").hidden = !report.map;
header();
// everything below the suspects comes after the first paint
requestAnimationFrame(() => setTimeout(() => {
  exampleMap.start();
  tables.extremes();
  tables.repeats();
  classCharts.histogram();
  classCharts.classTable();
  scatterChart.start();
  classCharts.pruning();
  document.documentElement.dataset.ready = "yes";
}));
})();
