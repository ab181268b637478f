// The tree's page: an outline of each search, opened node by node, stepped through in the order of the search.

const GLYPH = { max: "▲", min: "▼", leaf: "●", over: "■", table: "≡", cut: "✂" };
const MEANING = { max: "MAX to move", min: "MIN to move", leaf: "at the horizon: evaluated", over: "the game is over",
  table: "known from the table", cut: "never looked at" };
const ROWS = 600; // drawn at once; more are behind a line that says so

function makeTree(root, link) {
  let state = {}, sides = [], step = null, timer = null;
  const stage = el("div", { class: "gk-stage" }), caption = el("div", { class: "gk-line" });
  const slider = el("input", { type: "range", min: 1, class: "gk-slider", "aria-label": "step of the search",
    oninput: () => go(Number(slider.value)) });
  const counter = el("span", { class: "gk-live" });
  const button = (text, title, act, kind = "") => el("button", { type: "button", title, class: kind, onclick: act }, text);
  const play = button("Play", "run through the search", () => (timer ? halt() : run()), "gk-run");
  const columns = el("div", { class: "gk-columns" });
  const note = el("div", { class: "gk-note", role: "status" });
  root.prepend(el("div", { class: "gk-tree-head" },
    el("div", { class: "gk-look" }, stage, caption),
    el("div", { class: "gk-panel gk-wide" },
      el("div", { class: "gk-status" }, "Inside the search"),
      el("div", { class: "gk-buttons" }, button("Start", "to the first node", () => go(1)),
        button("Back", "one node back", () => go((step ?? state.steps) - 1), "gk-back"), play,
        button("Step", "one node on", () => go((step ?? 0) + 1), "gk-step"),
        button("Whole tree", "all that was searched", () => { halt(); step = null; sides.forEach((s) => { s.now = null; }); draw(); }, "gk-whole")),
      el("div", { class: "gk-slide" }, slider, counter), legend(), note)), columns);

  // -------------------------------------------------------------------------- stepping

  function go(to) {
    step = Math.min(Math.max(to, 1), state.steps);
    slider.value = step;
    link.send("step", { step });
  }
  function run() {
    if (step === null || step >= state.steps) step = 0;
    const stride = Math.max(1, Math.round(state.steps / 300));
    timer = setInterval(() => (step >= state.steps ? halt() : go(step + stride)), 120);
    play.textContent = "Pause";
  }
  function halt() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  link.end = halt;

  // --------------------------------------------------------------------- what was loaded

  const learn = (side, of, cards) => {
    side.below.set(Number(of), [...new Set([...(side.below.get(Number(of)) ?? []), ...cards.map((card) => card.id)])]);
    cards.forEach((card) => side.card.set(card.id, card));
  };
  const learnAll = (side, open) => Object.entries(open).forEach(([of, cards]) => { learn(side, of, cards); side.open.add(Number(of)); });

  link.on((message) => {
    const side = sides[message.side];
    if (!side) return;
    if ("children" in message) { learn(side, message.of, message.children); side.open.add(message.of); drawSide(side); }
    if ("svg" in message) { stage.innerHTML = message.svg; caption.textContent = message.line.join(" ") || "the root"; }
    if ("cut" in message) {
      learnAll(side, message.open);
      side.shown = side.cutAt = message.cut;
      drawSide(side);
      side.list.querySelector(`[data-id="${message.cut}"]`)?.scrollIntoView({ block: "nearest" });
    }
    if ("now" in message && step !== null) {
      side.open = new Set();
      learnAll(side, message.open);
      side.now = message.now;
      side.counters = message.counters;
      drawSide(side);
      side.list.querySelector(".gk-now")?.scrollIntoView({ block: "nearest" });
    }
  });

  // ------------------------------------------------------------------------------ drawing

  /** The nodes to be seen, in the order of the outline; while stepping only those that exist by now. */
  function visible(side) {
    const rows = [], now = side.now;
    const walk = (id) => {
      if (rows.length > ROWS) return;
      const card = side.card.get(id), parent = side.card.get(card.parent);
      if (now !== null && (card.kind === "cut" ? parent.done > now : id > now)) return;
      rows.push(card);
      if (!side.open.has(id)) return;
      const below = side.below.get(id) ?? [];
      below.forEach(walk);
      if (below.length < card.count && now === null) rows.push({ more: card.count - below.length, of: id, start: below.length, ply: card.ply + 1 });
    };
    walk(0);
    return rows;
  }

  function row(side, card) {
    const indent = `padding-left:${8 + 18 * card.ply}px`;
    if (card.more) {
      return el("button", { type: "button", class: "gk-more", style: `margin-left:${26 + 18 * card.ply}px`,
        onclick: () => link.send("open", { side: side.number, id: card.of, start: card.start }) },
        `${Math.min(card.more, state.batch)} more of ${count(card.more)}`);
    }
    const open = side.open.has(card.id), known = side.now === null || card.done <= side.now;
    const toggle = (event) => {
      event?.stopPropagation();
      if (open) { side.open.delete(card.id); drawSide(side); }
      else if (side.below.has(card.id)) { side.open.add(card.id); drawSide(side); }
      else link.send("open", { side: side.number, id: card.id });
    };
    const look = () => { side.shown = card.id; link.send("look", { side: side.number, id: card.id }); drawSide(side); };
    const keys = (event) => {
      const steps = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (steps) event.currentTarget[steps]?.focus();
      else if ((event.key === "ArrowRight") !== open && card.count && event.key.startsWith("Arrow")) { side.focus = card.id; toggle(); }
      else if (event.key === "Enter" || event.key === " ") { side.focus = card.id; look(); }
      else return;
      event.preventDefault();
    };
    const kind = ["gk-node", `gk-is-${card.kind}`, card.best && known ? "gk-best" : "", card.id === side.now ? "gk-now" : "",
      card.id === side.shown ? "gk-shown" : "", card.cut && known ? "gk-cutting" : ""].join(" ");
    return el("div", { class: kind, style: indent, tabindex: 0, role: "treeitem", "data-id": card.id, title: MEANING[card.kind],
      "aria-expanded": card.count ? String(open) : null, onclick: look, ondblclick: toggle, onkeydown: keys },
      el("span", { class: "gk-toggle", onclick: card.count ? toggle : null }, card.count ? (open ? "▾" : "▸") : ""),
      el("span", { class: "gk-glyph" }, GLYPH[card.kind]), el("b", {}, card.move),
      el("span", { class: "gk-worth-text" }, card.kind === "cut" ? "" : known ? card.value : "…"),
      el("span", { class: "gk-window" }, card.kind === "cut" ? "cut off unseen" : card.window),
      card.cut && known ? el("span", { class: "gk-why" }, `✂ ${card.why}`) : null);
  }

  function drawSide(side) {
    const facts = side.now === null ? state.sides[side.number].counters : side.counters;
    side.facts.replaceChildren(factRow(Object.entries(facts).map(([name, value]) => [name, count(value)])));
    const rows = visible(side), top = side.list.scrollTop;
    const had = side.list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    side.list.replaceChildren(...rows.slice(0, ROWS).map((card) => row(side, card)),
      ...(rows.length > ROWS ? [el("div", { class: "gk-faint" }, `only the first ${ROWS} open nodes are drawn; close some`)] : []));
    side.list.scrollTop = top;
    if (had !== null) side.list.querySelector(`[data-id="${had}"]`)?.focus({ preventScroll: true });
    counter.textContent = step === null ? `${count(state.steps)} nodes` : `node ${count(step)} of ${count(state.steps)}`;
  }
  const draw = () => sides.forEach(drawSide);

  function makeSide(given, number) {
    const side = { number, card: new Map([[0, given.root]]), below: new Map(), open: new Set(), now: null, shown: null,
      cutAt: -1, facts: el("div", {}), list: el("div", { class: "gk-list", role: "tree", "aria-label": given.name }) };
    learnAll(side, given.open);
    const cut = button("Next cut", "open the next node where moves were cut off",
      () => { halt(); step = null; side.now = null; link.send("cut", { side: number, after: side.cutAt }); }, "gk-next-cut");
    const fold = button("Fold", "close all but the first level", () => { side.open = new Set([0]); drawSide(side); });
    columns.append(el("section", { class: "gk-side" },
      el("div", { class: "gk-side-head" }, el("b", {}, given.name), el("span", {}, given.complete ? `plays ${given.move}, worth ${given.value}` : "unfinished"),
        el("span", { class: "gk-spring" }), given.name === "minimax" ? null : cut, fold),
      given.complete ? null : el("div", { class: "gk-note" }, `stopped at ${count(given.cap)} positions: what follows was not searched`),
      side.facts, side.list));
    return side;
  }

  return (next) => {
    note.textContent = next.note ?? "";
    if (sides.length && next.title === state.title) return;
    state = next;
    stage.innerHTML = state.svg;
    caption.textContent = `the root: ${state.max} is MAX`;
    slider.max = state.steps;
    slider.value = state.steps;
    sides = state.sides.map(makeSide);
    draw();
  };
}

function legend() {
  return el("div", { class: "gk-legend" }, ...["max", "min", "leaf", "over", "cut"].map((kind) =>
    el("span", { class: `gk-is-${kind}` }, el("span", { class: "gk-glyph" }, GLYPH[kind]), MEANING[kind])),
  el("span", { class: "gk-node gk-best" }, "principal line"), el("span", {}, "[α, β] the window on entry"));
}

export default { render: page("gk-tree", makeTree) };
