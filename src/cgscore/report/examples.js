"use strict";
// An example as it is shown everywhere: its picture, its text, or its name; and its neighbours.

const examples = (() => {
  const { make, text } = nodes;
  const { short, className, regression } = values;

  const MIN_PIXELATED = 16; // pixels of a side; below that squares would hide what is drawn

  // Drawings are enlarged pixel by pixel, photographs and tiny drawings smoothly.
  function picture(at, description) {
    const address = report.pictures[at];
    if (!address) return null;
    const drawing = address.startsWith("data:image/png");
    const made = make("img", { src: address, alt: description, decoding: "async" });
    if (drawing) made.addEventListener("load", () => made.classList.toggle("drawing", made.naturalWidth >= MIN_PIXELATED));
    return made;
  }

  const words = (at, cls) => (at in report.texts ? text(report.texts[at], cls || "quote") : null);

  // The values of a row of a table, a line each.
  function cells(at) {
    if (!(at in report.cells)) return null;
    const lines = report.columns.map((name, i) => `${name}: ${report.cells[at][i]}`);
    return make("span", { className: "cells" }, text(report.names[at], "name"), text(lines.join("\n"), "quote"));
  }

  function bar(part) {
    const inside = make("span", {});
    inside.style.width = `${Math.round(100 * Math.min(1, Math.max(0, part)))}%`;
    return make("span", { className: "weight", "aria-hidden": "true" }, inside);
  }

  // Rows of `at`, `caption` and perhaps `part`, which is drawn as a bar.
  function strip(rows) {
    return make(
      "ul",
      { className: "strip" },
      ...rows.map(({ at, caption, part }) => {
        const name = report.names[at];
        const quote = words(at) || cells(at);
        const shown = picture(at, `example ${name}`) || quote || text(name, "name");
        return make("li", { title: name, className: quote ? "words" : "" }, shown, part === undefined ? null : bar(part), caption);
      }),
    );
  }

  const hasNeighbours = (row) => row.given.length + row.suggested.length + row.similar.length > 0;

  function neighbours(row) {
    const all = row.given.concat(row.suggested, row.similar);
    const most = Math.max(1e-9, ...all.map((one) => one.share ?? 0));
    const weighed = all.some((one) => one.share !== null);
    const part = (side, label) => [
      label === null ? make("p", {}, "Most similar") : make("p", {}, "Most similar of ", text(label, "label")),
      strip(
        row[side].map((one) => ({
          at: one.at,
          caption: one.share === null ? one.similarity.toFixed(3) : `${(100 * one.share).toFixed(1)} %`,
          part: weighed ? (one.share ?? 0) / most : undefined,
        })),
      ),
    ];
    const hint = weighed ? "Below each example: its share in the prediction." : "Below each example: its cosine similarity.";
    return [
      ...(regression ? part("similar", null) : [...part("suggested", className(row.to)), ...part("given", className(row.from))]),
      make("p", { className: "hint" }, hint),
    ];
  }

  function change(row) {
    if (regression) {
      return make("p", { className: "change" }, text(short(row.value), "label given"), " → ", text(short(row.predicted), "label suggested"), make("span", { className: "meta" }, ` (95 %: ${short(row.low)} to ${short(row.high)})`));
    }
    return make("p", { className: "change" }, text(className(row.from), "label given"), " → ", text(className(row.to), "label suggested"));
  }

  return { picture, words, strip, neighbours, hasNeighbours, change };
})();
