"use strict";
// Easiest and hardest examples, groups of identical ones, sources, and other scores.

const tables = (() => {
  const { byId, make, text } = nodes;
  const { whole, share, short, className, choices } = values;
  const { strip } = examples;
  const brief = (value) => (value === null ? "–" : Math.abs(value) < 0.001 && value !== 0 ? value.toExponential(0) : Number(value.toPrecision(3)).toString());

  function extremes() {
    const select = byId("extreme-class");
    const all = report.extremes.length <= 20 ? [["", `all (${report.extremes.length})`]] : [];
    choices(select, [...all, ...report.extremes.map((one, i) => [i, className(one.class)])]);
    const draw = () => {
      const rows = select.value === "" ? report.extremes : [report.extremes[Number(select.value)]];
      byId("extreme-rows").replaceChildren(
        ...rows.flatMap((one) => [
          make("h3", {}, text(className(one.class), "label")),
          make(
            "div",
            { className: "ends" },
            make("div", {}, make("p", { className: "meta" }, "Easiest"), strip(one.easiest.map((at, i) => ({ at, caption: `CG ${brief(one.low[i])}` })))),
            make("div", {}, make("p", { className: "meta" }, "Hardest"), strip(one.hardest.map((at, i) => ({ at, caption: `CG ${brief(one.high[i])}` })))),
          ),
        ]),
      );
    };
    select.addEventListener("change", draw);
    draw();
  }

  function beside() {
    if (!report.beside) {
      byId("beside").hidden = true;
      return;
    }
    const { names, correlation, suspects } = report.beside;
    const cell = (value) => make("td", {}, value === null ? "–" : value.toFixed(2));
    byId("beside-table").append(
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...["score", ...names, "suspects"].map((name) => make("th", { scope: "col" }, text(name, "name"))))),
        make("tbody", {}, ...names.map((name, i) => make("tr", {}, make("th", { scope: "row" }, text(name, "name")), ...correlation[i].map(cell), make("td", {}, suspects[i] === null ? "–" : share(suspects[i]))))),
      ),
    );
  }

  function sources() {
    byId("sources").hidden = !report.sources.length;
    if (!report.sources.length) return;
    const verdict = { more: "more than the others", fewer: "fewer than the others", "": "" };
    byId("source-table").append(
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...["source", "labels", "flagged", "wrong", "95 % interval", ""].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, ...report.sources.map((row) => make("tr", {}, make("th", { scope: "row" }, text(row.name, "name")), make("td", {}, whole(row.examples)), make("td", {}, whole(row.flagged)), make("td", {}, share(row.rate)), make("td", {}, `${share(row.low)} to ${share(row.high)}`), make("td", { className: "text" }, verdict[row.differs])))),
      ),
    );
  }

  function group({ members, labels, size, conflict, similarity }) {
    const kind = similarity === null ? "identical" : `nearly identical (similarity ${short(similarity)} or more)`;
    const distinct = [...new Set(labels)];
    return make(
      "div",
      { className: "group" },
      make("p", {}, make("span", { className: conflict ? "badge alert" : "badge" }, conflict ? "different labels" : "same label"), ` ${whole(size)} ${kind}`, distinct.length > 1 ? ": " : "", ...distinct.flatMap((label, i) => (distinct.length > 1 ? [i ? ", " : "", text(label, "label")] : []))),
      strip(members.map((at, i) => ({ at, caption: text(labels[i], "label") }))),
    );
  }

  function repeats() {
    const { count, conflicts, rows } = report.repeats;
    const near = rows.filter((row) => row.similarity !== null).length;
    byId("repeats-count").textContent =
      (count ? `${whole(count)} examples repeat an earlier one, ${whole(conflicts)} of them with another label.` : "There are no duplicates.") +
      (near ? ` ${whole(near)} groups of nearly identical examples are among the suspects and what resembles them.` : "");
    const steps = 10;
    let shown = steps;
    const draw = () => {
      const more = make("button", { type: "button", className: "more", onclick: () => { shown += steps; draw(); } }, "Show more");
      byId("repeats-table").replaceChildren(...rows.slice(0, shown).map(group), shown < rows.length ? more : "");
    };
    draw();
  }

  return { extremes, beside, sources, repeats };
})();
