// A list, table or tree of any length. The rows in sight are asked for by message and kept by their index;
// the keyboard is at one row (aria-activedescendant), so that redrawing never takes the focus away.
//
//   rows_frame   search, tabs, headings      rows_hands   keys and clicks      rows_line   one row as elements

const AHEAD = 12; // rows drawn beyond either edge
const CHUNK = 50; // rows are asked for in steps of this
const PAGE = 200; // and at most so many at once (the kernel's own bound)

class RowsView extends RowsHands(RowsFrame) {
  constructor(model, el) {
    super();
    this.model = model;
    this.id = freshId("rows");
    this.rows = new Map();
    this.drawn = new Map();
    this.asked = new Set();
    this.pictures = new Map();
    this.version = -1;
    this.count = 0;
    this.active = 0;
    this.activeId = "";
    this.typed = "";
    this.build(el);
    this.listen();
    this.adopt(model.get("version"), model.get("count"));
  }

  listen() {
    this.off = [];
    const on = (event, react) => {
      this.model.on(event, react);
      this.off.push(() => this.model.off(event, react));
    };
    on("msg:custom", (message, buffers) => this.receive(message, buffers));
    on("change:version", () => this.adopt(this.get("version"), this.get("count")));
    for (const name of ["note", "query"]) on(`change:${name}`, () => this.drawWords());
    for (const name of ["label", "placeholder", "empty", "sorting"]) on(`change:${name}`, () => this.frame());
    on("change:tabs", () => this.drawTabs());
    for (const name of ["columns", "tree", "heads", "multiple", "height", "row_height", "current", "selected"])
      on(`change:${name}`, () => {
        this.frame();
        this.redraw();
      });
    on("change:tab", () => {
      this.frame();
      this.active = 0;
      this.activeId = "";
      this.grid.scrollTop = 0;
    });
    this.tabs.addEventListener("keydown", (event) => this.tabKey(event));
    this.grid.addEventListener("scroll", () => this.soon());
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    this.search.addEventListener("input", () => this.find());
    this.search.addEventListener("keydown", (event) => this.searchKey(event));
    this.watcher = new ResizeObserver(() => {
      this.frame();
      this.redraw();
    });
    this.watcher.observe(this.root);
  }

  receive(message, buffers) {
    if (message.type === "rows") this.take(message);
    else if (message.type === "go" && (!message.view || message.view === this.id)) this.go(message.index);
    else if (message.type === "icon") this.picture(message, buffers);
    else if (message.type === "searched" && message.view === this.id) this.found();
  }

  take(message) {
    if (message.version < this.version) return;
    if (message.version > this.version) this.adopt(message.version, message.count, message);
    else this.keep(message);
    if (message.view === this.id && message.active !== null && message.active !== undefined) this.active = message.active;
    this.draw();
  }

  keep(message) {
    message.rows.forEach((row, at) => this.rows.set(message.start + at, row));
  }

  /** Another state of the list: what was kept is old, the row that the keyboard is at keeps its id. */
  adopt(version, count, message) {
    if (version === this.version) return;
    const ending = this.get("follow") && this.grid.scrollTop + this.grid.clientHeight >= this.grid.scrollHeight - 4;
    const moved = this.activeId;
    this.version = version;
    this.count = count;
    this.rows.clear();
    this.asked.clear();
    if (message) this.keep(message);
    this.active = Math.max(0, Math.min(this.active, count - 1));
    const here = this.rows.get(this.active);
    if (moved && (!here || here.id !== moved)) this.ask(...this.range(), moved);
    this.size();
    if (ending) this.grid.scrollTop = this.grid.scrollHeight;
    this.draw();
  }

  picture(message, buffers) {
    const url = message.mime && buffers.length ? URL.createObjectURL(new Blob([buffers[0]], { type: message.mime })) : "";
    this.pictures.set(message.key, url);
    this.redraw();
  }

  size() {
    const whole = this.count * this.get("row_height");
    const headed = this.get("heads") ? 27 : 0;
    this.body.style.height = `${whole}px`;
    this.grid.style.height = `${Math.min(whole + headed + 2, this.get("height"))}px`;
    this.grid.setAttribute("aria-rowcount", String(this.count + (headed ? 1 : 0)));
    this.grid.hidden = this.count === 0;
    this.empty.hidden = this.count !== 0;
  }

  range() {
    const height = this.get("row_height");
    const first = Math.max(0, Math.floor(this.grid.scrollTop / height) - AHEAD);
    const shown = Math.ceil((this.grid.clientHeight || this.get("height")) / height) + 2 * AHEAD;
    return [first, Math.min(this.count, first + shown)];
  }

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  redraw() {
    for (const { node } of this.drawn.values()) node.remove();
    this.drawn.clear();
    this.size();
    this.draw();
  }

  draw() {
    const [first, last] = this.range();
    for (const [index, { node }] of this.drawn) {
      if (index >= first && index < last) continue;
      node.remove();
      this.drawn.delete(index);
    }
    let missing = -1;
    for (let index = first; index < last; index += 1) {
      const row = this.rows.get(index);
      if (!row && missing < 0) missing = index;
      this.place(index, row);
    }
    if (missing >= 0) this.ask(missing, last);
    this.mark();
  }

  ask(first, last, active = "") {
    const start = Math.floor(first / CHUNK) * CHUNK;
    const stop = Math.min(Math.ceil(last / CHUNK) * CHUNK, start + PAGE);
    const key = `${start} ${stop} ${active}`;
    if (this.asked.has(key)) return;
    this.asked.add(key);
    this.send("window", { start, stop, active });
  }

  place(index, row) {
    const old = this.drawn.get(index);
    const text = row ? JSON.stringify(row) : "";
    if (old && old.text === text) return;
    const node = rowLine(this, index, row);
    if (old) old.node.replaceWith(node);
    else this.body.append(node);
    this.drawn.set(index, { node, text });
  }

  mark() {
    const row = this.rows.get(this.active);
    if (row) this.activeId = row.id;
    for (const [index, { node }] of this.drawn) node.classList.toggle("jmcp-rows-active", index === this.active);
    if (this.drawn.has(this.active)) this.grid.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  close() {
    for (const off of this.off) off();
    this.watcher.disconnect();
    clearTimeout(this.typing);
    clearTimeout(this.searching);
    cancelAnimationFrame(this.waiting);
    for (const url of this.pictures.values()) if (url) URL.revokeObjectURL(url);
    this.root.remove();
  }
}

export default {
  render({ model, el }) {
    const view = new RowsView(model, el);
    return () => view.close();
  },
};
