"use strict";
(() => {
// The page of `cgscore report`, drawn from the embedded document.

const report = JSON.parse(document.getElementById("data").textContent);
const STEP = 60; // suspects drawn at once
const WIDE = 30; // classes up to which the map is a square

const { byId, make, text } = nodes;
const whole = (value) => (value === null ? "–" : Math.round(value).toLocaleString("en"));
const share = (value) => (value === null ? "–" : `${Math.round(100 * value)} %`);
const short = (value) => (value === null ? "–" : Number(value.toPrecision(4)).toString());
const sure = (value) => (value !== null && value >= 0.995 ? "> 99 %" : share(value));
const className = (c) => report.classes[c].name;
const regression = report.task === "regression"; // numbers are judged, and not classes
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function numbers(packed, Kind) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}

function choices(select, options) {
  select.replaceChildren(
    ...options.map(([value, label]) => make("option", { value: String(value) }, label)),
  );
}

const classOptions = () => report.classes.map((one, c) => [c, one.name]);

// ---------------------------------------------------------------- top

function header() {
  document.title = `cgscore report: ${report.title}`;
  byId("title").textContent = report.title;
  byId("verdict").textContent = report.verdict;
  for (const [name, value] of report.facts) {
    byId("facts").append(make("dt", {}, name), make("dd", {}, text(value)));
  }
  byId("notes").append(...report.notes.map((note) => make("p", { className: "note" }, text(note))));
  for (const section of document.querySelectorAll("main > section")) {
    if (section.hidden) continue;
    const title = section.querySelector("h2").textContent;
    byId("contents").append(make("li", {}, make("a", { href: `#${section.id}` }, title)));
  }
}

// ---------------------------------------------------------------- pictures

function picture(at, description) {
  const address = report.pictures[at];
  return address ? make("img", { src: address, alt: description, decoding: "async" }) : null;
}

function strip(rows) {
  return make(
    "ul",
    { className: "strip" },
    ...rows.map(({ at, caption }) => {
      const name = report.names[at];
      const drawn = picture(at, `example ${name}`);
      const quote = at in report.texts ? text(report.texts[at], "quote") : null;
      const shown = drawn || quote || text(name, "name");
      return make("li", { title: name, className: quote ? "words" : "" }, shown, make("br"), caption);
    }),
  );
}

// ---------------------------------------------------------------- suspects

const state = { pair: "", sort: "worst", shown: STEP };

const ORDERS = {
  worst: () => 0,
  cg: (a, b) => (b.cg ?? Infinity) - (a.cg ?? Infinity),
  id: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }),
  from: (a, b) => (regression ? a.value - b.value : a.from - b.from),
  to: (a, b) => (regression ? a.predicted - b.predicted : a.to - b.to),
};

function chosen() {
  const rows = report.suspects.filter(
    (row) => state.pair === "" || `${row.from}-${row.to}` === state.pair,
  );
  return state.sort === "worst" ? rows : rows.slice().sort(ORDERS[state.sort]);
}

function near(row) {
  if (!row.given.length && !row.suggested.length && !row.similar.length) return null;
  const part = (side, label) => [
    label === null ? make("p", {}, "Most similar") : make("p", {}, `Most similar of `, text(label, "label")),
    strip(
      row[side].map((one) => ({
        at: one.at,
        caption: one.share === null ? short(one.similarity) : `${short(100 * one.share)} %`,
      })),
    ),
  ];
  const details = make("details", {}, make("summary", {}, "Neighbours"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) {
      details.append(
        ...(regression ? part("similar", null) : [...part("suggested", className(row.to)), ...part("given", className(row.from))]),
        make(
          "p",
          { className: "hint" },
          row.given.concat(row.suggested, row.similar).some((one) => one.share !== null)
            ? "Below each example: its share in the prediction."
            : "Below each example: its cosine similarity.",
        ),
      );
    }
  });
  return details;
}

const range = (row) => `${short(row.low)} to ${short(row.high)}`;

function verdictOf(row) {
  if (regression) {
    return make("p", {}, text(short(row.value), "label given"), " → ", text(short(row.predicted), "label suggested"), ` (95 %: ${range(row)})`);
  }
  return make(
    "p",
    {},
    text(className(row.from), "label given"),
    " → ",
    text(className(row.to), "label suggested"),
  );
}

function card(row) {
  const given = regression ? short(row.value) : className(row.from);
  const drawn = picture(row.at, `example ${report.names[row.at]}, labelled ${given}`);
  const parts = [
    verdictOf(row),
    make("p", {}, `${sure(row.sure)} sure · CG ${short(row.cg)}`),
    row.kind.startsWith("wrong") ? null : make("p", {}, row.kind),
    make("p", {}, text(report.names[row.at], "name")),
    near(row),
  ];
  return make("li", { className: "card" }, ...[drawn, ...parts].filter(Boolean));
}

function table(rows) {
  const columns = report.columns || [];
  const judged = regression ? ["given", "predicted", "95 % interval", "sure", "CG"] : ["given", "suggested", "sure", "CG", "kind"];
  const head = ["id", ...judged, ...columns, ""];
  const cells = (row) =>
    regression
      ? [
          make("td", {}, text(short(row.value), "label given")),
          make("td", {}, text(short(row.predicted), "label suggested")),
          make("td", {}, range(row)),
          make("td", {}, sure(row.sure)),
          make("td", {}, short(row.cg)),
        ]
      : [
          make("td", { className: "text" }, text(className(row.from), "label given")),
          make("td", { className: "text" }, text(className(row.to), "label suggested")),
          make("td", {}, sure(row.sure)),
          make("td", {}, short(row.cg)),
          make("td", { className: "text" }, row.kind),
        ];
  return make(
    "div",
    { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Suspected labels" },
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, name)))),
      make(
        "tbody",
        {},
        ...rows.map((row) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, text(report.names[row.at], "name")),
            ...cells(row),
            ...columns.map((_, i) => {
              const words = row.at in report.texts;
              const shown = text(row.values[i], words ? "quote" : "name");
              return make("td", { className: words && i === 0 ? "text wide" : "text" }, shown);
            }),
            make("td", { className: "text" }, near(row) || ""),
          ),
        ),
      ),
    ),
  );
}

function drawSuspects() {
  const rows = chosen();
  const drawn = rows.slice(0, state.shown);
  const gallery = byId("gallery");
  if (Object.keys(report.pictures).length) gallery.replaceChildren(...drawn.map(card));
  else gallery.replaceChildren(make("li", { className: "whole" }, table(drawn)));
  gallery.classList.toggle("gallery", Object.keys(report.pictures).length > 0);
  byId("more").hidden = drawn.length >= rows.length;
  byId("count").textContent = `${drawn.length} of ${rows.length} shown`;
}

function csv(rows) {
  const quoted = (value) => {
    const plain = String(value);
    // a cell that a spreadsheet would take for a formula is marked as text
    const safe = /^[=+\-@\t\r]/.test(plain) && isNaN(plain) ? `'${plain}` : plain;
    return `"${safe.replaceAll('"', '""')}"`;
  };
  const values = (row) =>
    regression
      ? [row.id, row.value, row.predicted, row.low, row.high, 1 - row.sure, row.cg]
      : [row.id, className(row.from), className(row.to), row.sure, row.cg, row.kind];
  const lines = rows.map((row) => values(row).map((value) => quoted(value ?? "")).join(","));
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

function suspects() {
  if (!report.suspects.length) {
    byId("suspects").replaceChildren(
      make("h2", { id: "suspects-title" }, regression ? "Suspected values" : "Suspected labels"),
      make("p", {}, `No suspected ${regression ? "values" : "labels"} are shown.`),
    );
    return;
  }
  byId("pair").parentElement.hidden = regression;
  const counts = new Map();
  for (const row of regression ? [] : report.suspects) {
    const key = `${row.from}-${row.to}`;
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const pairs = [...counts].sort((a, b) => b[1] - a[1]);
  choices(byId("pair"), [
    ["", `all (${report.suspects.length})`],
    ...pairs.map(([key, count]) => {
      const [from, to] = key.split("-").map(Number);
      return [key, `${className(from)} → ${className(to)} (${count})`];
    }),
  ]);
  const change = (name) => (event) => {
    state[name] = event.target.value;
    state.shown = STEP;
    drawSuspects();
  };
  byId("pair").addEventListener("change", change("pair"));
  byId("sort").addEventListener("change", change("sort"));
  byId("more").addEventListener("click", () => {
    state.shown += STEP;
    drawSuspects();
  });
  byId("copy").addEventListener("click", async () => {
    const rows = chosen();
    await copy(rows.map((row) => row.id).join("\n"));
    byId("count").textContent = `${rows.length} ids copied`;
  });
  byId("export").addEventListener("click", () => save(csv(chosen()), "suspects.csv"));
  drawSuspects();
}

function showPair(from, to) {
  state.pair = `${from}-${to}`;
  state.shown = STEP;
  byId("pair").value = state.pair;
  drawSuspects();
  byId("suspects").scrollIntoView();
  byId("pair").focus();
}

// ---------------------------------------------------------------- map of classes

function pairButton(from, to, count) {
  const listed = report.suspects.some((row) => row.from === from && row.to === to);
  const label = `${count} labelled ${className(from)}, suggested ${className(to)}`;
  return listed
    ? make("button", { type: "button", title: label, "aria-label": label, onclick: () => showPair(from, to) }, String(count))
    : String(count);
}

function map() {
  if (!report.pairs.length) {
    byId("map").hidden = true;
    return;
  }
  const k = report.classes.length;
  const most = report.pairs[0][2];
  if (k > WIDE) {
    byId("map-table").append(
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...["given", "suggested", "labels"].map((name) => make("th", { scope: "col" }, name)))),
        make(
          "tbody",
          {},
          ...report.pairs.map(([from, to, count]) =>
            make("tr", {}, make("th", { scope: "row" }, text(className(from))), make("td", { className: "text" }, text(className(to))), make("td", {}, pairButton(from, to, count))),
          ),
        ),
      ),
    );
    return;
  }
  const cells = new Map(report.pairs.map(([from, to, count]) => [`${from}-${to}`, count]));
  const row = (from) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, text(className(from), "label")),
      ...report.classes.map((_, to) => {
        const count = cells.get(`${from}-${to}`) || 0;
        const cell = make("td", { className: "heat" }, count ? pairButton(from, to, count) : "");
        if (count) cell.style.background = `color-mix(in srgb, ${colour("--series")} ${Math.round(10 + (35 * count) / most)}%, transparent)`;
        return cell;
      }),
    );
  byId("map-table").append(
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "given \\ suggested"), ...report.classes.map((one) => make("th", { scope: "col" }, text(one.name, "label"))))),
      make("tbody", {}, ...report.classes.map((_, from) => row(from))),
    ),
  );
}

// ---------------------------------------------------------------- easiest and hardest

function extremes() {
  const select = byId("extreme-class");
  const all = report.extremes.length <= 20 ? [["", `all (${report.extremes.length})`]] : [];
  choices(select, [...all, ...report.extremes.map((one, i) => [i, className(one.class)])]);
  const draw = () => {
    const rows = select.value === "" ? report.extremes : [report.extremes[Number(select.value)]];
    byId("extreme-rows").replaceChildren(
      ...rows.flatMap((one) => [
        make("h3", {}, text(className(one.class), "label")),
        make("p", { className: "hint" }, "Easiest"),
        strip(one.easiest.map((at, i) => ({ at, caption: `CG ${short(one.low[i])}` }))),
        make("p", { className: "hint" }, "Hardest"),
        strip(one.hardest.map((at, i) => ({ at, caption: `CG ${short(one.high[i])}` }))),
      ]),
    );
  };
  select.addEventListener("change", draw);
  draw();
}

// ---------------------------------------------------------------- charts

const charts = [];

function chart(holder, options, data) {
  const size = () => ({ width: Math.max(240, holder.clientWidth), height: holder.clientHeight });
  const axis = (more) => ({ stroke: () => colour("--soft"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { stroke: () => colour("--line"), width: 1 }, ...more });
  const drawn = new uPlot({ ...size(), ...options, axes: options.axes.map(axis), legend: { show: false } }, data, holder);
  new ResizeObserver(() => drawn.setSize(size())).observe(holder);
  charts.push(drawn);
  return drawn;
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((one) => one.redraw()));

const power = (value) => short(10 ** value);
const decades = (u, axis, low, high) => {
  const step = Math.max(1, Math.ceil((high - low) / Math.max(2, u.width / 90)));
  const first = Math.ceil(low / step) * step;
  const whole = [];
  for (let at = first; at <= high; at += step) whole.push(at);
  return whole.length > 1 ? whole : [low + 0.1 * (high - low), high - 0.1 * (high - low)];
};

// The value below which a share of the counts lies, evenly spread within each bin.
function quantile(counts, edges, level) {
  const wanted = level * counts.reduce((sum, one) => sum + one, 0);
  let before = 0;
  for (let i = 0; i < counts.length; i++) {
    if (before + counts[i] >= wanted && counts[i]) return edges[i] + ((wanted - before) / counts[i]) * (edges[i + 1] - edges[i]);
    before += counts[i];
  }
  return edges.at(-1);
}

function histogram() {
  const { edges, counts, left_out: out } = report.histogram;
  const middles = edges.slice(1).map((edge, i) => (edge + edges[i]) / 2);
  const total = middles.map((_, i) => counts.reduce((sum, row) => sum + row[i], 0));
  const select = byId("histogram-class");
  choices(select, [["", "all"], ...classOptions()]);
  const drawn = chart(
    byId("histogram"),
    {
      scales: { x: { time: false, range: [edges[0], edges.at(-1)] }, y: { range: (_, low, high) => [0, Math.max(1, high)] } },
      axes: [{ splits: decades, values: (_, ticks) => ticks.map(power), label: "CG (logarithmic)" }, { label: "examples" }],
      cursor: { drag: { x: false, y: false } },
      series: [{}, { fill: () => colour("--series"), stroke: () => colour("--series"), paths: uPlot.paths.bars({ size: [0.95] }), points: { show: false } }],
    },
    [middles, total],
  );
  const show = () => {
    const rows = select.value === "" ? total : counts[Number(select.value)];
    drawn.setData([middles, rows]);
    const who = select.value !== "" ? className(Number(select.value)) : regression ? "All" : "All classes";
    byId("histogram-caption").textContent =
      `${who}: ${whole(rows.reduce((sum, one) => sum + one, 0))} examples, the middle half between CG ${power(quantile(rows, edges, 0.25))} and ${power(quantile(rows, edges, 0.75))}.` +
      (out ? ` ${whole(out)} without a finite positive score are not shown.` : "");
  };
  select.addEventListener("change", show);
  show();
}

const COLUMNS = [
  ["name", "class", (value) => text(value, "label")],
  ["examples", "examples", whole],
  ["mean", "mean CG", short],
  ["deviation", "standard deviation", short],
  ["median", "median CG", short],
  ["complexity", "complexity", short],
  ["wrong", "wrong labels (estimate)", whole],
];

function classTable() {
  let by = "mean";
  let down = true;
  const compare = (a, b) => {
    const order = by === "name" ? a.name.localeCompare(b.name, undefined, { numeric: true }) : (a[by] ?? -Infinity) - (b[by] ?? -Infinity);
    return down ? -order : order;
  };
  const holder = byId("class-plot");
  let sorted = report.classes.slice();
  const drawn = chart(
    holder,
    {
      scales: { x: { time: false, range: [-0.5, report.classes.length - 0.5] }, y: { range: () => spread(sorted) } },
      axes: [{ label: "classes, in the order of the table", values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) && sorted[tick] && sorted.length <= 20 ? sorted[tick].name.slice(0, 12) : "")) }, { label: "mean CG ± standard deviation" }],
      cursor: { drag: { x: false, y: false } },
      series: [{}, { stroke: () => colour("--series"), paths: () => null, points: { show: true, size: 6, fill: () => colour("--series") } }],
      hooks: { drawSeries: [bars] },
    },
    [sorted.map((_, i) => i), sorted.map((one) => one.mean)],
  );
  function spread(rows) {
    const known = rows.filter((one) => one.mean !== null);
    return [Math.min(0, ...known.map((one) => one.mean - one.deviation)), Math.max(1e-9, ...known.map((one) => one.mean + one.deviation))];
  }
  function bars(u) {
    u.ctx.strokeStyle = colour("--series");
    u.ctx.beginPath();
    sorted.forEach((one, i) => {
      if (one.mean === null) return;
      const x = u.valToPos(i, "x", true);
      u.ctx.moveTo(x, u.valToPos(one.mean - one.deviation, "y", true));
      u.ctx.lineTo(x, u.valToPos(one.mean + one.deviation, "y", true));
    });
    u.ctx.stroke();
  }
  const draw = () => {
    sorted = report.classes.slice().sort(compare);
    drawn.setData([sorted.map((_, i) => i), sorted.map((one) => one.mean)]);
    const shown = COLUMNS.filter(([key]) => report.classes.some((one) => one[key] !== null));
    const head = shown.map(([key, title]) =>
      make(
        "th",
        { scope: "col", "aria-sort": key === by ? (down ? "descending" : "ascending") : "none", className: key === "name" ? "text" : "" },
        make("button", { type: "button", onclick: () => { down = key === by ? !down : key !== "name"; by = key; draw(); byId("class-table").querySelector(`[data-key=${key}]`).focus(); }, "data-key": key }, title + (key === by ? (down ? " ↓" : " ↑") : "")),
      ),
    );
    byId("class-table").replaceChildren(
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...head)),
        make("tbody", {}, ...sorted.map((one) => make("tr", {}, ...shown.map(([key, , format]) => (key === "name" ? make("th", { scope: "row" }, format(one[key])) : make("td", {}, format(one[key]))))))),
      ),
    );
  };
  draw();
}

function scatter() {
  const { of, ids } = report.scatter;
  const first = numbers(report.scatter.x, Float32Array); // CG, or given values
  const second = numbers(report.scatter.y, Float32Array); // partial score, or predicted values
  const owner = numbers(report.scatter.class, Uint16Array);
  const marked = numbers(report.scatter.marked, Uint8Array);
  const at = report.scatter.at && numbers(report.scatter.at, Uint32Array);
  if (!first.length) {
    byId("scatter").hidden = true;
    return;
  }
  const scale = Math.max(1e-12, median(second.map(Math.abs)));
  const xs = Float64Array.from(first, regression ? (value) => value : (value) => Math.log10(Math.max(value, 1e-12)));
  const ys = Float64Array.from(second, regression ? (value) => value : (value) => Math.asinh(value / scale));
  const limits = (values) => {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    const room = 0.03 * (high - low || 1);
    return [low - room, high + room];
  };
  const bounds = { x: limits(xs), y: limits(ys) };
  const select = byId("scatter-class");
  choices(select, [["", "all"], ...classOptions()]);
  const rounds = (u, axis, low, high) => {
    const found = [];
    let last = -Infinity;
    const sizes = [];
    for (let power = -12; power <= 12; power++) sizes.push(10 ** power, 3 * 10 ** power);
    for (const value of [...sizes.slice().reverse().map((size) => -size), 0, ...sizes]) {
      const at = Math.asinh(value / scale);
      const room = (28 * (high - low)) / u.height;
      const crowded = value !== 0 && (Math.abs(at) < room || at - last < room);
      if (at >= low && at <= high && !crowded) {
        found.push(at);
        last = at;
      }
    }
    return found.length > 1 ? found : [low + 0.1 * (high - low), high - 0.1 * (high - low)];
  };
  const points = (wanted) => (u) => {
    const only = select.value === "" ? -1 : Number(select.value);
    const size = (xs.length > 20000 ? 1.5 : 3) * devicePixelRatio;
    const { left, top: above, width, height } = u.bbox;
    const [x0, x1, y0, y1] = [u.scales.x.min, u.scales.x.max, u.scales.y.min, u.scales.y.max];
    u.ctx.save();
    u.ctx.globalAlpha = xs.length > 20000 ? 0.5 : 0.7;
    u.ctx.fillStyle = colour(wanted ? "--bad" : "--series");
    for (let i = 0; i < xs.length; i++) {
      if (marked[i] !== wanted || (only >= 0 && owner[i] !== only)) continue;
      const x = xs[i];
      const y = ys[i];
      if (x < x0 || x > x1 || y < y0 || y > y1) continue;
      u.ctx.fillRect(left + ((x - x0) / (x1 - x0)) * width - size / 2, above + (1 - (y - y0) / (y1 - y0)) * height - size / 2, size, size);
    }
    u.ctx.restore();
  };
  const drawn = chart(
    byId("scatter-plot"),
    {
      scales: { x: { time: false, range: (_, low, high) => (low === null ? bounds.x : [low, high]) }, y: { range: (_, low, high) => (low === null ? bounds.y : [low, high]) } },
      axes: regression
        ? [{ label: "given value" }, { label: "predicted value", size: 70 }]
        : [{ splits: decades, values: (_, ticks) => ticks.map(power), label: "CG (logarithmic)" }, { splits: rounds, values: (_, ticks) => ticks.map((tick) => short(Math.sinh(tick) * scale)), label: "partial score", size: 70 }],
      cursor: { drag: { x: true, y: true, uni: 20 }, points: { show: false } },
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [points(0), points(1)] },
    },
    [bounds.x, bounds.y],
  );
  drawn.over.addEventListener("mousemove", (event) => {
    const x = drawn.posToVal(event.offsetX, "x");
    const y = drawn.posToVal(event.offsetY, "y");
    const wide = drawn.scales.x.max - drawn.scales.x.min;
    const high = drawn.scales.y.max - drawn.scales.y.min;
    const only = select.value === "" ? -1 : Number(select.value);
    let best = -1;
    let least = 0.0009;
    for (let i = 0; i < xs.length; i++) {
      if (only >= 0 && owner[i] !== only) continue;
      const far = ((xs[i] - x) / wide) ** 2 + ((ys[i] - y) / high) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    if (best >= 0) tell(best);
  });
  function tell(i) {
    const name = ids ? ids[i] : `row ${whole(at ? at[i] : i)}`;
    const values = regression
      ? `given ${short(first[i])}, predicted ${short(second[i])}`
      : `${className(owner[i])}, CG ${short(first[i])}, partial ${short(second[i])}`;
    byId("scatter-caption").textContent = `${name.slice(0, 200)}: ${values}${marked[i] ? ", flagged" : ""}`;
  }
  const describe = () => {
    const count = marked.reduce((sum, one) => sum + one, 0);
    byId("scatter-caption").textContent = `${whole(xs.length)} of ${whole(of)} examples, ${whole(count)} of them flagged (red). Point at an example to see its id.`;
    drawn.redraw();
  };
  select.addEventListener("change", describe);
  describe();
}

function median(values) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor(sorted.length / 2)];
}

function pruning() {
  const { fractions } = report.pruning;
  if (report.classes.length < 2) {
    byId("pruning").hidden = true;
    return;
  }
  const select = byId("pruning-order");
  const k = report.classes.length;
  const drawn = chart(
    byId("pruning-plot"),
    {
      scales: { x: { time: false, range: [0, 100] }, y: { range: [0, 1] } },
      axes: [{ values: (_, ticks) => ticks.map((tick) => `${tick} %`), label: "share of all examples removed" }, { values: (_, ticks) => ticks.map((tick) => `${Math.round(100 * tick)} %`), label: "share of the class removed", size: 60 }],
      cursor: { drag: { x: false, y: false } },
      series: [{}, ...report.classes.map((_, c) => ({ stroke: () => `hsl(${Math.round((360 * c) / k)} 60% 50%)`, width: 1.5, points: { show: false } })), { stroke: () => colour("--soft"), dash: [6, 6], points: { show: false } }],
    },
    [fractions, ...report.pruning[select.value], fractions.map((f) => f / 100)],
  );
  const show = () => {
    const rows = report.pruning[select.value];
    drawn.setData([fractions, ...rows, fractions.map((f) => f / 100)]);
    const half = fractions.indexOf(50);
    const order = rows.map((row, c) => [row[half], c]).sort((a, b) => b[0] - a[0]);
    const [most, least] = [order[0], order.at(-1)];
    byId("pruning-caption").textContent = `With half of all removed, ${className(most[1])} loses the most (${share(most[0])}) and ${className(least[1])} the least (${share(least[0])}).`;
    const steps = fractions.filter((f) => f % 10 === 0 && f > 0);
    byId("pruning-table").replaceChildren(
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, make("th", { scope: "col", className: "text" }, "class"), ...steps.map((f) => make("th", { scope: "col" }, `${f} %`)))),
        make("tbody", {}, ...rows.map((row, c) => make("tr", {}, make("th", { scope: "row" }, text(className(c), "label")), ...steps.map((f) => make("td", {}, share(row[fractions.indexOf(f)])))))),
      ),
    );
  };
  drawn.over.addEventListener("mousemove", (event) => {
    const at = Math.round(drawn.posToVal(event.offsetX, "x") / 5);
    const y = drawn.posToVal(event.offsetY, "y");
    const rows = report.pruning[select.value];
    if (!rows[0] || rows[0][at] === undefined) return;
    const near = rows.reduce((best, row, c) => (Math.abs(row[at] - y) < Math.abs(rows[best][at] - y) ? c : best), 0);
    byId("pruning-caption").textContent = `${className(near)}: with ${fractions[at]} % of all removed, ${share(rows[near][at])} of this class is removed.`;
  });
  select.addEventListener("change", show);
  show();
}

// ---------------------------------------------------------------- other scores

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

// ---------------------------------------------------------------- sources

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

// ---------------------------------------------------------------- duplicates

function repeats() {
  const { count, conflicts, rows } = report.repeats;
  byId("repeats-count").textContent = count
    ? `${whole(count)} examples repeat an earlier one, ${whole(conflicts)} of them with another label.${rows.length < count ? ` The first ${rows.length} are listed.` : ""}`
    : "There are no duplicates.";
  if (!count) return;
  const cell = (at) => make("td", { className: "text" }, ...[picture(at, ""), text(report.texts[at] || report.names[at], "name")].filter(Boolean));
  byId("repeats-table").append(
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...["example", "labelled", "repeats", "labelled"].map((name) => make("th", { scope: "col", className: "text" }, name)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, cell(row.at), make("td", { className: "text" }, text(row.given, row.conflict ? "label given" : "label")), cell(row.of), make("td", { className: "text" }, text(row.first, "label"))))),
    ),
  );
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
  for (const node of [byId("class-plot").parentElement, byId("class-table"), byId("class-table").previousElementSibling, byId("pruning")]) node.hidden = true;
}

if (regression) words();
suspects();
sources();
map();
extremes();
beside();
header();
// charts come after the first paint
requestAnimationFrame(() => setTimeout(() => {
  histogram();
  classTable();
  scatter();
  pruning();
  repeats();
  document.documentElement.dataset.ready = "yes";
}));
})();
