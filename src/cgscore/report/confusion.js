"use strict";
// Which classes are confused: suggested against given ones, as a square or as a list of pairs.

const confusion = (() => {
  const { byId, make, text } = nodes;
  const { className, colour } = values;
  const MAX_SQUARE = 30; // classes up to which all pairs are drawn

  const listed = new Set(report.suspects.map((row) => `${row.from}-${row.to}`));

  function pairButton(from, to, count) {
    const label = `${count} labelled ${className(from)}, suggested ${className(to)}`;
    return listed.has(`${from}-${to}`)
      ? make("button", { type: "button", title: label, "aria-label": label, onclick: () => suspects.showPair(from, to) }, String(count))
      : String(count);
  }

  function list() {
    const line = ([from, to, count]) =>
      make("tr", {}, make("th", { scope: "row" }, text(className(from))), make("td", { className: "text" }, text(className(to))), make("td", {}, pairButton(from, to, count)));
    return make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...["given", "suggested", "labels"].map((name) => make("th", { scope: "col", className: name === "labels" ? "" : "text" }, name)))),
      make("tbody", {}, ...report.pairs.map(line)),
    );
  }

  function square() {
    const most = report.pairs[0][2];
    const cells = new Map(report.pairs.map(([from, to, count]) => [`${from}-${to}`, count]));
    const cell = (from, to) => {
      const count = cells.get(`${from}-${to}`) || 0;
      const made = make("td", { className: "heat" }, count ? pairButton(from, to, count) : "");
      if (count) made.style.background = `color-mix(in srgb, ${colour("--series")} ${Math.round(10 + (35 * count) / most)}%, transparent)`;
      return made;
    };
    const line = (_, from) => make("tr", {}, make("th", { scope: "row" }, text(className(from), "label")), ...report.classes.map((__, to) => cell(from, to)));
    return make(
      "table",
      {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col", className: "text" }, "given ↓ suggested →"), ...report.classes.map((one) => make("th", { scope: "col" }, text(one.name, "label"))))),
      make("tbody", {}, ...report.classes.map(line)),
    );
  }

  return {
    start() {
      byId("map").hidden = !report.pairs.length;
      if (report.pairs.length) byId("map-table").append(report.classes.length > MAX_SQUARE || report.classes.length < 3 ? list() : square());
    },
  };
})();
