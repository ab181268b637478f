// The weights' page: a slider each, and the evaluation that follows them.

function makeWeights(root, link) {
  const seen = el("div", { class: "gk-stage" }), knobs = el("div", { class: "gk-knobs" });
  const spec = el("div", { class: "gk-title" }), note = el("div", { class: "gk-note", role: "status" });
  const moves = el("div", {}), rows = new Map();
  let busy = false, next = null;
  root.prepend(el("div", { class: "gk-table" }, seen, el("div", { class: "gk-panel" }, knobs,
    el("div", { class: "gk-buttons" }, el("button", { type: "button", class: "gk-reset", onclick: () => link.send("reset") }, "Reset")),
    spec, note, moves)));

  // One request at a time: while the last is being answered only the newest value waits.
  function set(name, value) {
    if (busy) { next = { name, value }; return; }
    busy = true;
    link.send("set", { name, value });
  }
  link.on((message) => {
    if (!("answer" in message)) return;
    busy = false;
    if (next) { const { name, value } = next; next = null; set(name, value); }
  });

  function knob(weight) {
    const number = el("output", {});
    let input;
    if (weight.choices) {
      input = el("select", { onchange: () => set(weight.name, input.value) }, ...weight.choices.map((text) => el("option", { value: text }, String(text))));
    } else if (weight.switch) {
      input = el("input", { type: "checkbox", onchange: () => set(weight.name, input.checked) });
    } else {
      input = el("input", { type: "range", min: weight.low, max: weight.high, step: weight.step, class: "gk-slider",
        oninput: () => { number.textContent = Number(input.value).toPrecision(3); set(weight.name, Number(input.value)); } });
    }
    input.setAttribute("aria-label", weight.name);
    knobs.append(el("label", { title: weight.about }, el("b", {}, weight.name), input, number), el("small", { class: "gk-faint" }, weight.about));
    return { input, number };
  }

  return (state) => {
    for (const weight of state.weights) {
      if (!rows.has(weight.name)) rows.set(weight.name, knob(weight));
      const { input, number } = rows.get(weight.name);
      if (weight.switch) input.checked = weight.value;
      else if (document.activeElement !== input || !busy) input.value = weight.value;
      if (!weight.choices && !weight.switch) number.textContent = Number(weight.value).toPrecision(3);
    }
    if (!state.weights.length && !knobs.childNodes.length) knobs.append(el("span", { class: "gk-faint" }, "this heuristic has no weights"));
    seen.innerHTML = state.explanation;
    spec.textContent = state.spec;
    note.textContent = state.note ?? "";
    moves.replaceChildren(el("div", { class: "gk-faint" }, `the position after each move${state.moves > state.bars.length ? ` (the best ${state.bars.length} of ${state.moves})` : ""}`), bars(state.bars));
  };
}

export default { render: page("gk-weights", makeWeights) };
