"use strict";
// One suspect, enlarged: picture, text or columns, with the neighbours of both classes.

const lightbox = (() => {
  const { byId, make, text } = nodes;
  const { short, sure, className, regression } = values;
  let rows = [];
  let here = 0;

  // Columns of this example beside what is typical of its two classes.
  function columns(row) {
    if (!report.columns.length || !row.values || row.at in report.texts) return null;
    const typical = (i, c) => make("td", { className: "text" }, text((report.typical[i] || {})[c] ?? "–", "name"));
    const classes = !regression && report.typical.length > 0;
    const head = ["column", "this example", ...(classes ? [`typical of ${className(row.to)}`, `typical of ${className(row.from)}`] : [])];
    return make(
      "div",
      { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Columns" },
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col", className: "text" }, text(name, "name"))))),
        make(
          "tbody",
          {},
          ...report.columns.map((name, i) =>
            make(
              "tr",
              {},
              make("th", { scope: "row" }, text(name, "name")),
              make("td", { className: `text ${fit(row, i)}` }, text(row.values[i], "name")),
              ...(classes ? [typical(i, row.to), typical(i, row.from)] : []),
            ),
          ),
        ),
      ),
    );
  }

  const fit = (row, i) => ({ 1: "for", "-1": "against" })[(row.fits || [])[i]] || "";

  function draw() {
    const row = rows[here];
    const name = report.names[row.at];
    const picture = examples.picture(row.at, `example ${name}`);
    const whole = examples.words(row.at, "whole-text");
    const large = picture || whole ? make("div", { className: "large" }, picture || whole) : null;
    byId("box-title").replaceChildren(text(name, "name"));
    byId("box-body").className = `box-body ${picture ? "" : "plain"}`;
    byId("box-body").replaceChildren(
      ...[
        large,
        make(
          "div",
          {},
          examples.change(row),
          make("p", { className: "meta" }, `${sure(row.sure)} sure · CG ${short(row.cg)} · ${row.kind}`),
          columns(row),
          ...(examples.hasNeighbours(row) ? examples.neighbours(row) : []),
        ),
      ].filter(Boolean),
    );
    byId("box-count").textContent = `${here + 1} of ${rows.length}`;
    byId("box-before").disabled = here === 0;
    byId("box-after").disabled = here === rows.length - 1;
  }

  function move(step) {
    const next = here + step;
    if (next < 0 || next >= rows.length) return;
    here = next;
    draw();
    byId("box").scrollTop = 0;
  }

  byId("box-before").addEventListener("click", () => move(-1));
  byId("box-after").addEventListener("click", () => move(1));
  byId("box-close").addEventListener("click", () => byId("box").close());
  byId("box").addEventListener("click", (event) => { if (event.target === byId("box")) byId("box").close(); });
  byId("box").addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") move(1);
    if (event.key === "ArrowLeft") move(-1);
  });

  return {
    fit,
    // Opens on one of some suspects; the arrows go through all of them.
    open(all, at) {
      rows = all;
      here = Math.max(0, rows.findIndex((row) => row.at === at));
      draw();
      byId("box").showModal();
    },
  };
})();
