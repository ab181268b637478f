// The review's page: the board at a ply, the evaluation curve to click on, and the moves with what they lost.

function makeReview(root, link) {
  let state = {}, timer = null;
  const stage = el("div", { class: "gk-stage" });
  const status = el("div", { class: "gk-status", "aria-live": "polite" }), remark = el("div", { class: "gk-remark" });
  const button = (text, title, act, kind) => el("button", { type: "button", title, class: kind, onclick: act }, text);
  const go = (to) => link.send("at", { ply: Math.min(Math.max(to, 0), state.plies.length) });
  const play = button("Play", "go through the game", () => (timer ? halt() : run()), "gk-run");
  const curve = el("div", { class: "gk-review-curve" }), moves = el("ol", { class: "gk-moves" }), exact = el("div", {});
  const note = el("div", { class: "gk-note", role: "status" }), about = el("div", { class: "gk-faint" });
  const nextLoss = button("Next lost value", "to the next move that lost value", () => {
    const later = state.plies.findIndex((ply, i) => i >= state.at && ply.verdict === "lost value");
    const first = state.plies.findIndex((ply) => ply.verdict === "lost value");
    go((later < 0 ? first : later) + 1);
  }, "gk-next-loss");
  const table = el("div", { class: "gk-table", tabindex: 0, "aria-label": "game review: arrow keys go back and on",
    onkeydown: (event) => {
      const to = { ArrowLeft: state.at - 1, ArrowRight: state.at + 1, Home: 0, End: state.plies.length }[event.key];
      if (to === undefined) return;
      go(to);
      event.preventDefault();
    } }, stage, el("div", { class: "gk-panel" }, status, remark, note,
    el("div", { class: "gk-buttons" }, button("First", "to the start", () => go(0)), button("Back", "one move back", () => go(state.at - 1), "gk-back"),
      button("Next", "one move on", () => go(state.at + 1), "gk-next"), button("Last", "to the end", () => go(state.plies.length)), play, nextLoss),
    about, curve, moves, exact));
  root.prepend(table);

  function run() {
    if (state.at >= state.plies.length) go(0);
    timer = setInterval(() => (state.at >= state.plies.length ? halt() : go(state.at + 1)), 700);
    play.textContent = "Pause";
  }
  function halt() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  link.end = halt;

  function drawCurve() {
    const values = state.plies.map((ply) => ply.value), wide = 380, high = 54, n = Math.max(values.length, 1);
    const top = Math.max(1e-9, ...values.map(Math.abs).filter((value) => value < 1e11));
    const x = (i) => 6 + (i * (wide - 12)) / n, y = (value) => high - Math.max(-1, Math.min(1, value / top)) * (high - 6);
    const points = [[x(0), high], ...values.map((value, i) => [x(i + 1), y(value)])];
    const svg = el("svg:svg", { viewBox: `0 0 ${wide} ${2 * high}`, class: state.kind === "candy" ? "gk-green" : "", role: "img",
      "aria-label": "the evaluation after every move",
      onclick: (event) => { const box = svg.getBoundingClientRect(); go(Math.round((((event.clientX - box.left) / box.width) * wide - 6) * n / (wide - 12))); } });
    const shape = (edge) => `M${x(0)} ${high}` + points.map(([px, py]) => `L${px} ${edge(py)}`).join("") + `L${x(n)} ${high}Z`;
    svg.append(el("svg:path", { d: shape((py) => Math.min(py, high)), class: "gk-f1", opacity: 0.35 }),
      el("svg:path", { d: shape((py) => Math.max(py, high)), class: "gk-f2", opacity: 0.35 }),
      el("svg:line", { x1: 0, x2: wide, y1: high, y2: high, class: "gk-zero" }),
      el("svg:polyline", { points: points.map((point) => point.join()).join(" "), class: "gk-trace" }));
    state.plies.forEach((ply, i) => {
      if (ply.verdict) svg.append(el("svg:circle", { cx: x(i + 1), cy: y(ply.value), r: ply.verdict === "slower" ? 2.5 : 4.5,
        class: ply.verdict === "slower" ? "gk-slower" : "gk-lost-value" }));
    });
    svg.append(el("svg:line", { x1: x(state.at), x2: x(state.at), y1: 2, y2: 2 * high - 2, class: "gk-here" }));
    curve.replaceChildren(svg);
  }

  return (next) => {
    state = next;
    const ply = state.plies[state.at - 1];
    stage.innerHTML = state.svg;
    status.textContent = ply ? `${state.at}. ${state.marks[ply.player - 1]} ${ply.move}   (${ply.text})` : "The start";
    remark.textContent = ply?.remark ?? "";
    remark.className = `gk-remark ${ply?.verdict === "slower" ? "gk-faint" : ""}`;
    note.textContent = state.note ?? "";
    nextLoss.hidden = !state.lost;
    about.textContent = `${state.plies.length} moves, ${state.status}; curve by ${state.by}, up is good for ${state.marks[0]}; `
      + (state.judged ? `${state.judged} moves judged exactly, ${state.lost} lost value` : "no move judged exactly");
    drawCurve();
    moves.replaceChildren(...state.plies.map((one, i) => el("li", {}, el("button", { type: "button", title: one.remark || one.text,
      class: [`gk-by${one.player}`, i + 1 === state.at ? "gk-here" : "", { "lost value": "gk-bad", slower: "gk-slow" }[one.verdict] ?? ""].join(" "),
      onclick: () => go(i + 1) }, one.move + ({ "lost value": " ?", slower: " ∙" }[one.verdict] ?? "")))));
    exact.replaceChildren(...(state.bars.length ? [el("div", { class: "gk-faint" }, "exact values of the moves there were"), bars(state.bars)] : []));
  };
}

export default { render: page("gk-review", makeReview) };
