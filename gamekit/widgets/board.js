// The board's page: draws what the kernel sends, previews legal moves, and sends clicks and keys back.

const SIZE = 56, EDGE = 24, PAD = 6; // as in drawing.py
const corner = (at) => EDGE + PAD + at * SIZE;
const same = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function makeBoard(root, link) {
  let state = {}, cursor = [0, 0], chosen = null, over = null, ghost = null;
  const board = el("div", { class: "gk-stage" });
  const panel = makePanel(link);
  root.prepend(el("div", { class: "gk-table" }, board, panel.node));

  // ---------------------------------------------------------------- which move a cell means

  const fits = (cell, move) => state.columns ? move.at[1] === cell[1] : same(move.at, cell);
  const startsAt = (cell) => state.moves.filter((move) => move.at && fits(cell, move));
  const runs = (cell) => {
    const from = state.moves.filter((move) => same(move.at, chosen));
    const near = from.filter((move) => same(move.to, cell));
    return near.length ? near : from.filter((move) => move.does.some(([r, c]) => r === cell[0] && c === cell[1]));
  };
  const meant = (cell) => {
    if (chosen && !same(chosen, cell)) return runs(cell).length === 1 ? runs(cell)[0] : null;
    const moves = startsAt(cell);
    return moves.length === 1 && !moves[0].to ? moves[0] : null;
  };

  function press(cell) {
    const move = meant(cell);
    if (move) {
      chosen = null;
      link.send("play", { move: move.m });
    } else if (same(chosen, cell)) {
      chosen = null;
      mark();
    } else if (startsAt(cell).some((found) => found.to)) {
      chosen = cell;
      mark();
    } else {
      link.send("why", { row: cell[0], col: cell[1], start: chosen });
    }
  }

  function key(event) {
    const step = STEPS[event.key];
    if (step) {
      cursor = [Math.min(Math.max(cursor[0] + step[0], 0), state.cells.length - 1),
        Math.min(Math.max(cursor[1] + step[1], 0), state.cells[0].length - 1)];
      focus();
      hover(cursor);
    } else if (event.key === "Enter" || event.key === " ") press(cursor);
    else if (event.key === "Escape") { chosen = null; mark(); }
    else return;
    event.preventDefault();
  }

  // ------------------------------------------------------------------------------- drawing

  const hit = (cell) => board.querySelector(`.gk-hit[data-cell="${cell}"]`);

  function focus() {
    board.querySelectorAll(".gk-hit[tabindex='0']").forEach((node) => node.setAttribute("tabindex", "-1"));
    const node = hit(cursor);
    node?.setAttribute("tabindex", "0");
    node?.focus({ preventScroll: true });
  }

  function hover(cell) {
    over = cell;
    ghost.replaceChildren();
    const move = cell && meant(cell);
    for (const [r, c, name] of move ? move.does : []) {
      const shape = el("svg:g", { class: `gk-ghost gk-p${name[0]}`,
        transform: `translate(${corner(c) + SIZE / 2} ${corner(r) + SIZE / 2})` });
      shape.innerHTML = state.ghosts[name] || `<circle r="5" fill="currentColor"/>`;
      ghost.append(shape);
    }
  }

  /** Which cells can be played on, which was chosen and where its stones may run. */
  function mark() {
    const to = state.moves.filter((move) => same(move.at, chosen)).map((move) => String(move.to));
    const hinted = state.moves.find((move) => move.m === state.hint);
    for (const node of board.querySelectorAll(".gk-hit")) {
      const cell = node.dataset.cell.split(",").map(Number);
      node.classList.toggle("gk-legal", chosen ? to.includes(String(cell)) : startsAt(cell).length > 0);
      node.classList.toggle("gk-target", to.includes(String(cell)));
      node.classList.toggle("gk-chosen", same(chosen, cell));
      node.classList.toggle("gk-hint", Boolean(hinted) && (same(hinted.at, cell) || same(hinted.to, cell)));
    }
    hover(over);
  }

  function drawBoard() {
    const hadFocus = board.contains(document.activeElement);
    board.innerHTML = state.svg;
    const svg = board.querySelector("svg");
    svg.setAttribute("role", "grid");
    ghost = el("svg:g", { class: "gk-ghosts" });
    const hits = el("svg:g", {});
    for (let r = 0; r < state.cells.length; r++) for (let c = 0; c < state.cells[0].length; c++) {
      const [owner, label] = state.cells[r][c];
      const cell = [r, c];
      hits.append(el("svg:rect", { class: "gk-hit", "data-cell": `${r},${c}`, x: corner(c) + 1, y: corner(r) + 1,
        width: SIZE - 2, height: SIZE - 2, rx: 8, role: "gridcell", tabindex: same(cursor, cell) ? 0 : -1,
        "aria-label": `row ${r + 1}, column ${c + 1}: ${owner ? state.marks[owner - 1] : "empty"} ${label}`,
        onpointerenter: () => hover(cell), onpointerleave: () => hover(null), onkeydown: key, onfocus: () => { cursor = cell; },
        onclick: () => { cursor = cell; focus(); press(cell); } }));
    }
    svg.append(ghost, hits);
    if (chosen && !startsAt(chosen).length) chosen = null;
    mark();
    if (hadFocus) focus();
  }

  return (next) => {
    state = next;
    cursor = [Math.min(cursor[0], state.cells.length - 1), Math.min(cursor[1], state.cells[0].length - 1)];
    drawBoard();
    panel.draw(state);
  };
}

// ------------------------------------------------------------------------ beside the board

function makePanel(link) {
  let thinking = false;
  const status = el("div", { class: "gk-status", "aria-live": "polite" });
  const nodes = el("span", { class: "gk-live" });
  const note = el("div", { class: "gk-note", role: "status" });
  const button = (text, what, title) => el("button", { type: "button", class: `gk-${what}`, title,
    onclick: () => link.send(what) }, text);
  const undo = button("Undo", "undo", "take back to your last turn");
  const hint = button("Hint", "hint", "a one-second search of your best move");
  const play = button("Play", "run", "let the agents go on"), pause = button("Pause", "pause", "hold the agents");
  const step = button("Step", "step", "one move of the agent"), stop = button("Stop", "stop", "end the search: move now");
  const names = `gk-agents-${link.view}`;
  const list = el("datalist", { id: names });
  const seats = [0, 1].map((seat) => el("input", { class: "gk-seat", list: names, spellcheck: "false",
    "aria-label": `who plays side ${seat + 1}`, title: "you, or any agent's name",
    onchange: (event) => { link.send("seat", { seat, who: event.target.value }); event.target.blur(); },
    onfocus: (event) => { event.target.dataset.was = event.target.value; event.target.value = ""; },
    onblur: (event) => { if (!event.target.value) event.target.value = event.target.dataset.was; } }));
  const marks = [0, 1].map((seat) => el("span", { class: `gk-mark gk-m${seat + 1}` }));
  const told = el("div", { class: "gk-told" }), curve = el("div", { class: "gk-curve" });
  const node = el("div", { class: "gk-panel" },
    el("div", { class: "gk-head" }, status, nodes), note,
    el("div", { class: "gk-seats" }, marks[0], seats[0], marks[1], seats[1], list),
    el("div", { class: "gk-buttons" }, undo, button("Swap sides", "swap", "play on with the other colour"), hint,
      button("New game", "new", "start again"), play, pause, step, stop), told, curve);

  link.on((message) => { if ("nodes" in message && thinking) nodes.textContent = `${count(message.nodes)} nodes`; });
  const pulse = setInterval(() => {
    if (!node.isConnected) return;
    if (thinking) link.send("ping");
  }, 2000);
  link.end = () => clearInterval(pulse);

  function draw(state) {
    thinking = state.thinking;
    status.textContent = state.status;
    status.classList.toggle("gk-busy", thinking);
    if (!thinking) nodes.textContent = "";
    note.textContent = state.note ?? "";
    list.replaceChildren(...state.agents.map((name) => el("option", { value: name })));
    const score = (seat) => state.score ? ` ${state.score[seat]}` : "";
    const agents = state.seats.filter((name) => name !== "you").length;
    seats.forEach((input, seat) => { if (document.activeElement !== input) input.value = state.seats[seat]; });
    marks.forEach((mark, seat) => {
      mark.textContent = state.marks[seat] + score(seat);
      mark.classList.toggle("gk-turn", !state.over && state.turn === seat + 1);
      mark.classList.toggle("gk-green", state.kind === "candy");
    });
    undo.disabled = state.ply === 0;
    hint.disabled = !state.yours;
    play.hidden = pause.hidden = step.hidden = agents === 0 || (agents === 1 && state.running);
    play.hidden ||= state.running;
    pause.hidden ||= !state.running;
    play.disabled = step.disabled = state.over || state.yours;
    stop.disabled = !thinking;
    told.replaceChildren(...(state.told ? tell(state.told) : []));
    curve.replaceChildren(...(state.curve.length > 1 ? [drawCurve(state)] : []));
  }
  return { node, draw };
}

/** The agent's evidence in words and bars. */
function tell(told) {
  const facts = [["move", told.move], ["value", told.value], ["depth", told.depth || "–"],
    ["nodes", count(told.nodes)], ["time", `${(told.seconds * 1000).toFixed(told.seconds < 0.01 ? 1 : 0)} ms`],
    ["ended by", told.stopped_by || "–"]];
  const rows = told.bars.map((bar, i) => {
    const loose = told.bounds && i > 0 && Math.abs(bar.value) < 1e11;
    return { ...bar, text: (loose ? "≤ " : "") + bar.text,
      title: loose ? "pruned: worth at most this" : bar.text };
  });
  const rest = told.weighed - rows.length;
  return [el("div", { class: "gk-title" }, told.who === "hint" ? `Hint for ${told.mark}` : `${told.mark}: ${told.who}`),
    factRow(facts),
    told.line ? el("div", { class: "gk-line", title: "the line expected" }, told.line) : null,
    rows.length ? bars(rows) : null,
    rest > 0 ? el("div", { class: "gk-faint" }, `… and ${rest} more moves`) : null].filter(Boolean);
}

/** The game so far: a bar for each position, up for the first player. */
function drawCurve(state) {
  const values = state.curve.map((value) => value ?? 0);
  const top = Math.max(1e-9, ...values.map(Math.abs).filter((value) => value < 1e11));
  const wide = Math.min(14, 260 / values.length), high = 26;
  const svg = el("svg:svg", { viewBox: `0 0 ${wide * values.length} ${2 * high}`, height: 2 * high,
    width: wide * values.length, class: state.kind === "candy" ? "gk-green" : "", role: "img",
    "aria-label": "the game so far, move by move" });
  values.forEach((value, i) => {
    const share = Math.sign(value) * Math.min(1, Math.abs(value) / top) * (high - 2);
    const bar = el("svg:rect", { class: value < 0 ? "gk-f2" : "gk-f1", x: i * wide + 0.5, width: Math.max(wide - 1, 1),
      y: high - Math.max(share, 0.75), height: Math.max(Math.abs(share), 1.5), rx: 1 });
    bar.append(el("svg:title", {}, `${i ? `${i}. ${state.line[i - 1]}` : "start"}: `
      + (Math.abs(value) > 1e11 ? "won" : value.toPrecision(3))));
    svg.append(bar);
  });
  return el("div", {}, el("div", { class: "gk-faint" }, `the game so far, up is good for ${state.marks[0]}`), svg);
}

export default { render: page("gk-play", makeBoard) };
