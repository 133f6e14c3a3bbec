"use strict";
// The map of examples: coloured points, hovering, a lasso, and steps through suspects by keys.

const exampleMap = (() => {
  const { byId, make, text } = nodes;
  const { numbers, whole, short, share, className, classColour, colour, regression, pointName } = values;
  const MAX_LEGEND = 12; // classes up to which there is a legend
  const MARGIN = 18;
  let points = null;
  let lasso = []; // corners while it is drawn
  let selected = new Set();
  let pointed = -1;

  function unpack(map) {
    const at = numbers(map.at, Uint32Array);
    return {
      n: at.length,
      at,
      x: numbers(map.x, Uint16Array),
      y: numbers(map.y, Uint16Array),
      marked: numbers(map.marked, Uint8Array),
      score: numbers(map.score, Uint8Array),
      cg: numbers(map.cg, Float32Array),
      owner: map.class ? numbers(map.class, Uint16Array) : null,
      to: map.to ? numbers(map.to, Uint16Array) : null,
      value: map.value ? numbers(map.value, Float32Array) : null,
    };
  }

  const name = (i) => report.names[points.at[i]] ?? pointName(report.map.ids, i, points.at[i]);

  // ---------------------------------------------------------------- colours

  // Shares from 0 to 1 along a scale of blue to red, of even lightness.
  function scale(part) {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return `hsl(${Math.round(215 - 205 * Math.min(1, Math.max(0, part)))} 65% ${dark ? 64 : 45}%)`;
  }

  // The rank of each value, as a share: skewed values use all of the scale.
  function ranks(all) {
    const order = Array.from(all.keys()).sort((a, b) => all[a] - all[b]);
    const places = new Float32Array(all.length);
    order.forEach((i, place) => { places[i] = place / Math.max(1, all.length - 1); });
    return places;
  }

  let cgRanks = null;
  let valueRanks = null;

  function colourOf(i) {
    const by = byId("map-colour").value;
    if (by === "score") return scale(1 - points.score[i] / 255);
    if (by === "cg") return scale((cgRanks ??= ranks(points.cg))[i]);
    if (by === "value") return scale((valueRanks ??= ranks(points.value))[i]);
    return classColour(points.owner[i]);
  }

  function legend() {
    const by = byId("map-colour").value;
    const dot = (fill, words) => {
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      svg.setAttribute("viewBox", "0 0 10 10");
      svg.setAttribute("aria-hidden", "true");
      for (const [key, value] of Object.entries({ cx: 5, cy: 5, r: 4.5, fill })) circle.setAttribute(key, value);
      svg.append(circle);
      return make("li", {}, svg, " ", text(words));
    };
    const ends = { score: ["surely right", "undecided", "surely wrong"], cg: ["lowest CG", "median", "highest CG"], value: ["lowest value", "median", "highest value"] }[by];
    const dots = ends
      ? ends.map((words, i) => dot(scale(i / 2), words))
      : report.classes.length <= MAX_LEGEND ? report.classes.map((one, c) => dot(classColour(c), one.name)) : [make("li", {}, `${whole(report.classes.length)} classes, each in its own colour`)];
    byId("map-legend").replaceChildren(...dots, make("li", {}, "◯ flagged"));
  }

  // ---------------------------------------------------------------- drawing

  const canvas = byId("map-canvas");
  const place = (i) => [MARGIN + (points.x[i] / 65535) * (canvas.clientWidth - 2 * MARGIN), MARGIN + (1 - points.y[i] / 65535) * (canvas.clientHeight - 2 * MARGIN)];
  const visible = (i) => byId("map-only").value === "" || (byId("map-only").value === "marked" ? points.marked[i] === 1 : points.owner !== null && points.owner[i] === Number(byId("map-only").value));

  function draw() {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const size = points.n > 4000 ? 1.6 : points.n > 1000 ? 2.3 : 3.2;
    const dim = selected.size > 0;
    for (const wanted of [0, 1]) {
      for (let i = 0; i < points.n; i++) {
        if (points.marked[i] !== wanted || !visible(i)) continue;
        const [x, y] = place(i);
        pen.globalAlpha = dim && !selected.has(i) ? 0.15 : wanted ? 1 : 0.65;
        pen.fillStyle = colourOf(i);
        pen.beginPath();
        pen.arc(x, y, wanted ? size + 0.6 : size, 0, 2 * Math.PI);
        pen.fill();
        if (wanted) {
          pen.strokeStyle = colour("--ink");
          pen.lineWidth = 1;
          pen.stroke();
        }
      }
    }
    pen.globalAlpha = 1;
    if (lasso.length > 1) {
      pen.strokeStyle = colour("--ink");
      pen.fillStyle = colour("--accent-tint");
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      pen.beginPath();
      lasso.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.closePath();
      pen.stroke();
      pen.setLineDash([]);
    }
    if (pointed >= 0) {
      const [x, y] = place(pointed);
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(x, y, 8, 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  // ---------------------------------------------------------------- pointing

  function describe(i) {
    const labels = regression
      ? `value ${short(points.value[i])}`
      : points.marked[i] ? `labelled ${className(points.owner[i])}, suggested ${className(points.to[i])}` : `labelled ${className(points.owner[i])}`;
    return `Example ${name(i).slice(0, 200)}: ${labels}; right with probability ${share(points.score[i] / 255)}; CG ${short(points.cg[i])}${points.marked[i] ? "; flagged" : ""}`;
  }

  function point(i) {
    pointed = i;
    const tip = byId("map-tip");
    tip.hidden = i < 0;
    if (i >= 0) {
      const [x, y] = place(i);
      tip.replaceChildren(...[examples.picture(points.at[i], ""), make("span", {}, describe(i))].filter(Boolean));
      const right = x > canvas.clientWidth / 2;
      tip.style.left = right ? "" : `${x + 14}px`;
      tip.style.right = right ? `${canvas.clientWidth - x + 14}px` : "";
      tip.style.top = y > canvas.clientHeight / 2 ? "" : `${y}px`;
      tip.style.bottom = y > canvas.clientHeight / 2 ? `${canvas.clientHeight - y}px` : "";
    }
    draw();
  }

  function nearest(x, y) {
    let best = -1;
    let least = 14 ** 2;
    for (let i = 0; i < points.n; i++) {
      if (!visible(i)) continue;
      const [px, py] = place(i);
      const far = (px - x) ** 2 + (py - y) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    return best;
  }

  // ---------------------------------------------------------------- lasso

  function inside(x, y) {
    let odd = false;
    for (let i = 0, j = lasso.length - 1; i < lasso.length; j = i++) {
      const [[x1, y1], [x2, y2]] = [lasso[i], lasso[j]];
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) odd = !odd;
    }
    return odd;
  }

  function choose(indices) {
    selected = new Set(indices);
    const flagged = indices.filter((i) => points.marked[i]);
    byId("map-chosen").hidden = !indices.length;
    byId("map-count").textContent = `${whole(indices.length)} examples selected, ${whole(flagged.length)} of them flagged.`;
    const listed = flagged.filter((i) => report.names[points.at[i]] !== undefined && report.suspects.some((row) => row.at === points.at[i]));
    byId("map-show").hidden = !listed.length;
    byId("map-show").onclick = () => suspects.showChosen(new Set(listed.map((i) => points.at[i])));
    byId("map-copy").onclick = async () => {
      await suspects.copy(indices.map(name).join("\n"));
      byId("map-count").textContent = `${whole(indices.length)} ids copied.`;
    };
    byId("map-list").replaceChildren(
      ...indices.slice(0, 60).map((i) => make("li", { title: name(i) }, examples.picture(points.at[i], `example ${name(i)}`) || text(name(i), "name"), text(regression ? short(points.value[i]) : className(points.owner[i]), points.marked[i] ? "label given" : "label"))),
    );
    draw();
  }

  const spot = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  function listen() {
    canvas.addEventListener("pointerdown", (event) => {
      lasso = [spot(event)];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!lasso.length) return point(nearest(...spot(event)));
      lasso.push(spot(event));
      point(-1);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (lasso.length > 5) {
        const all = Array.from({ length: points.n }, (_, i) => i);
        const caught = all.filter((i) => visible(i) && inside(...place(i)));
        lasso = [];
        return choose(caught);
      }
      lasso = [];
      const i = nearest(...spot(event));
      if (i >= 0 && points.marked[i] && report.suspects.some((row) => row.at === points.at[i])) suspects.open(points.at[i]);
      else if (selected.size) choose([]);
      else point(i);
    });
    canvas.addEventListener("pointercancel", () => { lasso = []; draw(); });
    canvas.addEventListener("pointerleave", () => { if (!lasso.length) point(-1); });
    canvas.addEventListener("blur", () => point(-1));
    canvas.addEventListener("keydown", (event) => {
      const flagged = Array.from(points.at.keys()).filter((i) => points.marked[i] && visible(i));
      if (!flagged.length) return;
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        const here = flagged.indexOf(pointed);
        point(flagged[(here + step + (here < 0 && step < 0 ? 1 : 0) + flagged.length) % flagged.length]);
        byId("map-caption").textContent = describe(pointed);
      }
      if (event.key === "Enter" && pointed >= 0 && report.suspects.some((row) => row.at === points.at[pointed])) suspects.open(points.at[pointed]);
    });
    byId("map-colour").addEventListener("change", () => { legend(); draw(); });
    byId("map-only").addEventListener("change", draw);
    byId("map-clear").addEventListener("click", () => choose([]));
    new ResizeObserver(draw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { legend(); draw(); });
  }

  return {
    start() {
      byId("example-map").hidden = !report.map;
      if (!report.map) return;
      points = unpack(report.map);
      const flagged = points.marked.reduce((sum, one) => sum + one, 0);
      values.choices(byId("map-colour"), [...(regression ? [["value", "value"]] : [["class", "given class"]]), ["score", "probability that the label is right"], ["cg", "CG"]]);
      values.choices(byId("map-only"), [["", "all"], ...(flagged ? [["marked", "flagged"]] : []), ...(regression || report.classes.length > 100 ? [] : values.classOptions())]);
      byId("map-caption").textContent = `${whole(points.n)} of ${whole(report.map.of)} examples, ${whole(flagged)} of them flagged. The two axes of the map explain ${share(report.map.explained)} of the variance of the kernel matrix.`;
      legend();
      listen();
      draw();
    },
  };
})();
