"use strict";
// Charts by uPlot in the colours of the page, and the axes that several of them share.

const plots = (() => {
  const { short, colour } = values;

  const charts = [];

  function chart(holder, options, data) {
    const size = () => ({ width: Math.max(240, holder.clientWidth), height: holder.clientHeight });
    const axis = (more) => ({ stroke: () => colour("--soft"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { stroke: () => colour("--line"), width: 1 }, ...more });
    const drawn = new uPlot({ ...size(), ...options, axes: options.axes.map(axis), legend: { show: false } }, data, holder);
    drawn.ctx.canvas.setAttribute("aria-hidden", "true"); // the holder is the image, and has a name
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

  return { chart, power, decades };
})();

// CG by class: histogram, means and deviations, the table of classes, and what pruning removes.

const classCharts = (() => {
  const { byId, make, text } = nodes;
  const { whole, share, short, className, regression, colour, choices, classOptions } = values;
  const { chart, power, decades } = plots;

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
      byId("pruning-caption").textContent = `With half of all examples removed, ${className(most[1])} loses the most (${share(most[0])}) and ${className(least[1])} the least (${share(least[0])}).`;
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

  return { histogram, classTable, pruning };
})();
