"use strict";
// The embedded document, and how its numbers and names are written.

const report = JSON.parse(document.getElementById("data").textContent);

const values = (() => {
  const dash = "–";
  const LIGHT = ["#2f63b5", "#d0661a", "#2a8a45", "#bb2f2b", "#7a4fb0", "#8a5a3c", "#c2559a", "#667085", "#8c8f12", "#0f8ea0"];
  const DARK = ["#7fa9ec", "#f0a060", "#74c98a", "#ef8480", "#b798e6", "#c89b7f", "#eb95ca", "#a9b1bd", "#cdd05f", "#62cbda"];
  const share = (value) => (value === null ? dash : `${Math.round(100 * value)} %`);

  return {
    regression: report.task === "regression", // numbers are judged, and not classes
    whole: (value) => (value === null ? dash : Math.round(value).toLocaleString("en")),
    share,
    short: (value) => (value === null ? dash : Number(value.toPrecision(4)).toString()),
    sure: (value) => (value !== null && value >= 0.995 ? "> 99 %" : share(value)),
    className: (c) => report.classes[c].name,
    colour: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
    classOptions: () => report.classes.map((one, c) => [c, one.name]),

    numbers(packed, Kind) {
      const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
      return new Kind(bytes.buffer);
    },

    // The id of point i at a position: empty ids are the positions themselves, null ids are left out.
    pointName: (ids, i, at) => (ids === null ? `row ${Math.round(at).toLocaleString("en")}` : ids.length ? ids[i] : String(at)),

    choices(select, options) {
      select.replaceChildren(...options.map(([value, label]) => nodes.make("option", { value: String(value) }, label)));
    },

    // The colour of class c: ten that are easy to tell apart, then hues that are far apart.
    classColour(c) {
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      if (report.classes.length <= LIGHT.length) return (dark ? DARK : LIGHT)[c];
      return `hsl(${Math.round((c * 137.508 + 215) % 360)} 62% ${dark ? 66 : 42}%)`;
    },
  };
})();
