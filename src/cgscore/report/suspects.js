"use strict";
// The suspects: search, filters that are kept in the address, a gallery or a table, and exports.

const suspects = (() => {
  const { byId, make, text } = nodes;
  const { short, sure, className, regression } = values;
  const STEP = 60; // suspects drawn at once
  const state = { pair: "", kind: "", least: "", most: "", q: "", sort: "worst" };
  const CONTROLS = { pair: "pair", kind: "kind", least: "least", most: "most", q: "search", sort: "sort" };
  let shown = STEP;
  let chosenOnMap = null; // positions, while a selection of the map is listed

  const ORDERS = {
    cg: (a, b) => (b.cg ?? Infinity) - (a.cg ?? Infinity),
    id: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }),
    from: (a, b) => (regression ? a.value - b.value : a.from - b.from),
    to: (a, b) => (regression ? a.predicted - b.predicted : a.to - b.to),
  };

  // All words that a suspect can be found by.
  const searchable = (row) =>
    [row.id, report.texts[row.at] || "", ...(row.values || []), ...(regression ? [] : [className(row.from), className(row.to)])].join("\n").toLowerCase();

  function chosen() {
    const words = state.q.trim().toLowerCase();
    const least = state.least === "" ? -Infinity : Number(state.least) / 100;
    const most = state.most === "" ? Infinity : Number(state.most) / 100;
    const rows = report.suspects.filter(
      (row) =>
        (state.pair === "" || `${row.from}-${row.to}` === state.pair) &&
        (state.kind === "" || row.kind === state.kind) &&
        (row.sure ?? 0) >= least && (row.sure ?? 0) <= most &&
        (chosenOnMap === null || chosenOnMap.has(row.at)) &&
        (words === "" || searchable(row).includes(words)),
    );
    return state.sort in ORDERS ? rows.sort(ORDERS[state.sort]) : rows;
  }

  // ---------------------------------------------------------------- address

  function remember() {
    const parts = new URLSearchParams(Object.entries(state).filter(([name, value]) => value !== (name === "sort" ? "worst" : "")));
    try {
      history.replaceState(null, "", parts.size ? `#${parts}` : location.pathname + location.search);
    } catch {
      // a page inside another document has no address of its own
    }
  }

  // True if the address holds a selection, and not the name of a section.
  function recall() {
    const hash = location.hash.slice(1);
    if (!hash.includes("=")) return false;
    const parts = new URLSearchParams(hash);
    for (const [name, id] of Object.entries(CONTROLS)) {
      const control = byId(id);
      control.value = parts.get(name) ?? (name === "sort" ? "worst" : "");
      state[name] = control.value; // "" where there is no such choice
    }
    if (state.sort === "") state.sort = byId("sort").value = "worst";
    return true;
  }

  // ---------------------------------------------------------------- drawing

  function near(row) {
    if (!examples.hasNeighbours(row)) return null;
    const details = make("details", {}, make("summary", { "aria-label": `Neighbours of example ${report.names[row.at]}` }, "Neighbours"));
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(...examples.neighbours(row));
    });
    return details;
  }

  const enlarge = (row) => () => lightbox.open(chosen(), row.at);

  function card(row) {
    const name = report.names[row.at];
    const given = regression ? short(row.value) : className(row.from);
    const drawn = examples.picture(row.at, `example ${name}, labelled ${given}`);
    return make(
      "li",
      { className: "card" },
      drawn && make("button", { type: "button", className: "zoom", onclick: enlarge(row), "aria-label": `Enlarge example ${name}, labelled ${given}` }, drawn),
      make(
        "div",
        { className: "body" },
        examples.change(row),
        make("p", { className: "meta" }, `${sure(row.sure)} sure · CG ${short(row.cg)}`),
        row.kind.startsWith("wrong") ? null : make("p", {}, make("span", { className: "badge" }, row.kind)),
        make("p", {}, text(name, "name")),
        near(row),
      ),
    );
  }

  function judged(row) {
    const cell = (name, content, cls) => make("td", { className: cls || "", "data-name": name }, content);
    if (regression) {
      return [
        cell("given", text(short(row.value), "label given")),
        cell("predicted", text(short(row.predicted), "label suggested")),
        cell("95 % interval", `${short(row.low)} to ${short(row.high)}`),
        cell("sure", sure(row.sure)),
        cell("CG", short(row.cg)),
      ];
    }
    return [
      cell("given", text(className(row.from), "label given"), "text"),
      cell("suggested", text(className(row.to), "label suggested"), "text"),
      cell("sure", sure(row.sure)),
      cell("CG", short(row.cg)),
      cell("kind", row.kind, "text"),
    ];
  }

  function valueCell(row, i) {
    const words = row.at in report.texts;
    const typical = report.typical[i] || {};
    const cell = make("td", { className: `text ${words && i === 0 ? "wide" : lightbox.fit(row, i)}`, "data-name": report.columns[i] }, text(row.values[i], words ? "quote" : "name"));
    if (!regression && row.to in typical) cell.title = `typical of ${className(row.to)}: ${typical[row.to]}; of ${className(row.from)}: ${typical[row.from] ?? "–"}`;
    return cell;
  }

  function table(rows) {
    const columns = report.columns || [];
    const head = ["id", ...(regression ? ["given", "predicted", "95 % interval", "sure", "CG"] : ["given", "suggested", "sure", "CG", "kind"]), ...columns, "neighbours"];
    const line = (row) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, make("button", { type: "button", onclick: enlarge(row), title: "Enlarge" }, text(report.names[row.at], "name"))),
        ...judged(row),
        ...columns.map((_, i) => valueCell(row, i)),
        make("td", { className: "text" }, near(row) || ""),
      );
    return make(
      "div",
      { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Suspected labels" },
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, text(name, "name"))))),
        make("tbody", {}, ...rows.map(line)),
      ),
    );
  }

  function draw() {
    const rows = chosen();
    const drawn = rows.slice(0, shown);
    const gallery = byId("gallery");
    const pictures = Object.keys(report.pictures).length > 0;
    gallery.className = pictures ? "gallery" : "rows";
    if (!rows.length) gallery.replaceChildren(make("li", { className: "hint" }, "Nothing fits this search and these filters."));
    else if (pictures) gallery.replaceChildren(...drawn.map(card));
    else gallery.replaceChildren(make("li", { className: "whole" }, table(drawn)));
    byId("more").hidden = drawn.length >= rows.length;
    byId("count").textContent = `${drawn.length} of ${rows.length} shown${chosenOnMap === null ? "" : ", from the map"}`;
    byId("reset").hidden = chosenOnMap === null && rows.length === report.suspects.length;
    byId("fits-hint").hidden = !rows.some((row) => (row.fits || []).some(Boolean));
  }

  function redraw() {
    shown = STEP;
    remember();
    draw();
  }

  function reset() {
    Object.assign(state, { pair: "", kind: "", least: "", most: "", q: "", sort: state.sort });
    for (const [name, id] of Object.entries(CONTROLS)) byId(id).value = state[name];
    chosenOnMap = null;
    redraw();
  }

  // ---------------------------------------------------------------- exports

  function csv(rows) {
    const quoted = (value) => {
      const plain = String(value);
      // a cell that a spreadsheet would take for a formula is marked as text
      const safe = /^[=+\-@\t\r]/.test(plain) && isNaN(plain) ? `'${plain}` : plain;
      return `"${safe.replaceAll('"', '""')}"`;
    };
    const cells = (row) =>
      regression
        ? [row.id, row.value, row.predicted, row.low, row.high, 1 - row.sure, row.cg]
        : [row.id, className(row.from), className(row.to), row.sure, row.cg, row.kind];
    const lines = rows.map((row) => cells(row).map((value) => quoted(value ?? "")).join(","));
    const head = regression ? "id,given_label,predicted_label,low,high,label_score,cg" : "id,given_label,predicted_label,confidence,cg,kind";
    return [head, ...lines].join("\r\n") + "\r\n";
  }

  function save(content, name) {
    const address = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  async function copy(content) {
    try {
      await navigator.clipboard.writeText(content);
    } catch {
      const area = make("textarea", { value: content });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  // ---------------------------------------------------------------- controls

  function fillChoices() {
    byId("pair").parentElement.hidden = regression;
    const counts = new Map();
    for (const row of regression ? [] : report.suspects) {
      const key = `${row.from}-${row.to}`;
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    values.choices(byId("pair"), [
      ["", `all (${report.suspects.length})`],
      ...[...counts].sort((a, b) => b[1] - a[1]).map(([key, count]) => {
        const [from, to] = key.split("-").map(Number);
        return [key, `${className(from)} → ${className(to)} (${count})`];
      }),
    ]);
    const kinds = [...new Set(report.suspects.map((row) => row.kind))].sort();
    byId("kind").parentElement.hidden = kinds.length < 2;
    values.choices(byId("kind"), [["", "all"], ...kinds.map((kind) => [kind, kind])]);
  }

  function start() {
    if (!report.suspects.length) {
      byId("suspects").replaceChildren(
        make("h2", { id: "suspects-title" }, regression ? "Suspected values" : "Suspected labels"),
        make("p", {}, `No suspected ${regression ? "values" : "labels"} are shown.`),
      );
      return;
    }
    fillChoices();
    for (const [name, id] of Object.entries(CONTROLS)) {
      byId(id).addEventListener(byId(id).tagName === "SELECT" ? "change" : "input", (event) => {
        state[name] = event.target.value;
        redraw();
      });
    }
    byId("reset").addEventListener("click", reset);
    byId("filter-toggle").addEventListener("click", () => {
      const open = byId("filters").classList.toggle("open");
      byId("filter-toggle").setAttribute("aria-expanded", String(open));
    });
    byId("more").addEventListener("click", () => {
      shown += STEP;
      draw();
    });
    byId("copy").addEventListener("click", async () => {
      const rows = chosen();
      await copy(rows.map((row) => row.id).join("\n"));
      byId("count").textContent = `${rows.length} ids copied`;
    });
    byId("export").addEventListener("click", () => save(csv(chosen()), "suspects.csv"));
    recall();
    draw();
    window.addEventListener("hashchange", () => { if (recall()) draw(); });
  }

  return {
    start,
    copy,
    open: (at) => lightbox.open(report.suspects, at),
    showPair(from, to) {
      state.pair = byId("pair").value = `${from}-${to}`;
      redraw();
      byId("suspects").scrollIntoView();
      byId("pair").focus({ preventScroll: true });
    },
    showChosen(positions) {
      chosenOnMap = positions;
      redraw();
      byId("suspects").scrollIntoView();
    },
  };
})();
