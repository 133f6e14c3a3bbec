"use strict";
// The suspects, which of them are shown, and how far the review has come.

const queue = (() => {
  const { byId, make } = nodes;
  const state = { queue: [], task: "", classes: [], pictures: false, texts: false, at: null, grid: false, pair: "", which: "open", drawn: null, key: "", fingerprint: "", version: 0 };

  const numeric = () => state.task === "regression"; // labels are numbers, and not classes
  const number = (value) => (value === null ? "–" : String(Number(value.toPrecision(6))));
  const percent = (value) => `${Math.round(100 * value)} %`;
  const rowOf = (at) => state.queue.find((row) => row.at === at);

  function shown() {
    return state.queue.filter((row) => {
      if (state.pair !== "" && `${row.from}-${row.to}` !== state.pair) return false;
      if (state.which === "conflicts") return row.conflict !== null;
      if (state.which === "disagreements") return row.votes.length > 0;
      if (state.which === "open") return (row.flagged || row.votes.length > 0) && row.decision === null;
      return state.which === "all" || row.decision !== null;
    });
  }

  function fillPairs() {
    const counts = new Map();
    byId("pair").parentElement.hidden = numeric();
    for (const row of numeric() ? [] : state.queue) {
      const key = `${row.from}-${row.to}`;
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    const options = [...counts].sort((a, b) => b[1] - a[1]).map(([key, count]) => {
      const [from, to] = key.split("-").map(Number);
      return make("option", { value: key }, `${state.classes[from]} → ${state.classes[to]} (${count})`);
    });
    byId("pair").replaceChildren(make("option", { value: "" }, `all (${state.queue.length})`), ...options);
    byId("which").querySelector("[value=conflicts]").hidden = !state.queue.some((row) => row.conflict !== null);
    byId("which").querySelector("[value=disagreements]").hidden = !state.queue.some((row) => row.votes.length);
    if (!counts.has(state.pair)) state.pair = "";
    byId("pair").value = state.pair;
  }

  // Shares near 1 need digits: 98.7 %, and never 100 % while something may be wrong.
  const precise = (value) => (value > 0.9995 && value < 1 ? "> 99.9 %" : `${(100 * value).toFixed(1)} %`);

  function showProgress({ counts, open, taught, clean }) {
    const done = counts.accept + counts.keep + counts.change + counts.skip;
    byId("bar").max = done + open || 1;
    byId("bar").value = done;
    byId("progress").textContent = `${done} decided (${counts.accept} accepted, ${counts.change} changed to another class, ${counts.keep} kept, ${counts.skip} skipped), ${open} open`;
    const range = (one) => `${percent(one.share)} (95 %: ${percent(one.low)} to ${percent(one.high)})`;
    byId("taught").textContent = taught
      ? `So far ${range(taught.wrong)} of the suspected labels were wrong, and the suggested label was right for ${range(taught.right_label)} of the suspects.`
      : "";
    const goal = `${percent(clean.goal)} clean with ${percent(clean.confidence)} probability`;
    byId("clean-bar").value = clean.probability;
    byId("clean").textContent = clean.reached
      ? `Goal reached: at least ${goal}. Expected: ${precise(clean.share)} of all labels are right.`
      : `About ${precise(clean.share)} of all labels are right, at least ${precise(clean.low)} with 95 % probability. ${clean.looks === null ? `If ${percent(clean.reviewer_error)} of the decisions are wrong, one reviewer alone cannot reach ${goal}` : `For ${goal}: about ${clean.looks.toLocaleString("en")} more decisions`}.`;
    const waiting = open === 0 && !clean.reached;
    byId("further").hidden = !waiting;
  }

  function showLive(live) {
    byId("live").textContent = live.words;
  }

  return { state, numeric, number, percent, rowOf, shown, fillPairs, showProgress, showLive };
})();
