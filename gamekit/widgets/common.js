// What the pages of all widgets share: making elements, and talking to a kernel that may be gone.

/** An element (SVG inside an SVG parent's namespace by `svg:` tags) with properties and children. */
function el(tag, props = {}, ...children) {
  const node = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
    : document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const count = (number) => Math.round(number).toLocaleString("en").replaceAll(",", "\u202f");

/** Messages to the kernel. Each is answered; when one is not, the page says so instead of standing still. */
class Link {
  constructor(model, root) {
    this.model = model;
    this.view = Math.random().toString(36).slice(2);
    this.waiting = new Map();
    this.number = 0;
    this.lost = el("div", { class: "gk-lost", role: "alert", hidden: true });
    root.append(this.lost);
    this.hear = (message) => {
      if (!("answer" in message)) return;
      clearTimeout(this.waiting.get(message.answer));
      this.waiting.delete(message.answer);
      this.lost.hidden = true;
    };
    this.dead = () => this.tell("The kernel was restarted or is gone: run this cell again.");
    this.away = () => this.send("bye", { view: this.view });
    this.handlers = [];
    this.on(this.hear);
    model.on("comm_live_update", this.dead);
    window.addEventListener("pagehide", this.away);
    this.send("hello", { view: this.view });
  }

  /** Hear the kernel's messages for as long as this page lives. */
  on(handler) {
    this.handlers.push(handler);
    this.model.on("msg:custom", handler);
  }

  tell(text) {
    this.lost.textContent = text;
    this.lost.hidden = false;
  }

  send(what, data = {}) {
    const n = `${this.view}${this.number++}`;
    const late = () => this.tell("The kernel does not answer: it is busy with another cell, or gone. "
      + "If it was restarted, run this cell again.");
    this.waiting.set(n, setTimeout(late, 2500));
    try {
      this.model.send({ do: what, n, ...data });
    } catch {
      this.dead();
    }
  }

  close() {
    this.end?.();
    this.away();
    this.waiting.forEach(clearTimeout);
    window.removeEventListener("pagehide", this.away);
    this.handlers.forEach((handler) => this.model.off("msg:custom", handler));
    this.model.off("comm_live_update", this.dead);
  }
}

/** A widget's page: `make(root, link)` builds it once and returns how to draw a state. */
function page(kind, make) {
  return ({ model, el: host }) => {
    const root = el("div", { class: `gk ${kind}`, "data-lm-suppress-shortcuts": "true" });
    // Plain keys belong to the widget; the notebook would take arrows and Enter for its own commands.
    root.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter"))) event.stopPropagation();
    });
    host.append(root);
    const link = new Link(model, root);
    const draw = make(root, link);
    const redraw = () => draw(model.get("state"));
    model.on("change:state", redraw);
    redraw();
    return () => {
      model.off("change:state", redraw);
      link.close();
    };
  };
}

/** A row of bars: left of the middle against, right of it for; wins reach the end. */
function bars(rows) {
  const top = Math.max(1e-9, ...rows.map((row) => Math.abs(row.value)).filter((value) => value < 1e11));
  return el("div", { class: "gk-bars" }, ...rows.map((row) => {
    const share = Math.min(1, Math.abs(row.value) / top) * 50;
    const bar = el("i", { class: row.value < 0 ? "gk-loss" : "gk-gain",
      style: `width:${Math.max(share, 0.8)}%;${row.value < 0 ? "right" : "left"}:50%` });
    return el("div", { class: `gk-bar ${row.best ? "gk-best" : ""}`, title: row.title ?? row.text },
      el("b", {}, row.move), el("span", { class: "gk-track" }, bar), el("em", {}, row.text));
  }));
}

/** Named figures side by side. */
function factRow(facts) {
  return el("div", { class: "gk-facts" }, ...facts.map(([name, text]) => el("div", {}, el("small", {}, name), el("b", {}, String(text)))));
}
