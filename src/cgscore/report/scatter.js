"use strict";
// Partial score against CG, or predicted against given values: a point for every example.

const scatterChart = (() => {
  const { byId } = nodes;
  const { whole, short, className, regression, colour, choices, classOptions, numbers, pointName } = values;
  const { chart, power, decades } = plots;

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
      const name = pointName(ids, i, at ? at[i] : i);
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

  return { start: scatter };
})();
