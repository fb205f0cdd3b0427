// A list, table or tree of any length. The rows in sight are asked for by message and kept by their index;
// the keyboard is at one row (aria-activedescendant), so that redrawing never takes the focus away.

const AHEAD = 12; // rows drawn beyond either edge
const CHUNK = 50; // rows are asked for in steps of this
const PAGE = 200; // and at most so many at once (the kernel's own bound)
const NARROW = 460; // pixels; columns marked `wide` are left out below it
const TYPED_MS = 700; // letters typed within that belong together
const SEARCH_MS = 5000; // a search that is not answered by then is not waited for

class RowsView {
  constructor(model, el) {
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

  get(name) {
    return this.model.get(name);
  }

  send(type, more) {
    this.model.send({ type, view: this.id, ...more });
  }

  // --- the frame ---

  build(el) {
    this.root = element("div", { class: "jmcp-rows" });
    this.search = element("input", { type: "search", class: "jmcp-rows-search", autocomplete: "off", spellcheck: "false" });
    this.note = element("div", { class: "jmcp-rows-note", role: "status", "aria-live": "polite" });
    this.tabs = element("div", { class: "jmcp-rows-tabs", role: "tablist", "data-lm-suppress-shortcuts": "true" });
    this.head = element("div", { class: "jmcp-rows-head", role: "rowgroup" });
    this.body = element("div", { class: "jmcp-rows-body", role: "rowgroup" });
    this.grid = element("div", { class: "jmcp-rows-grid", tabindex: "0", "data-lm-suppress-shortcuts": "true" }, this.head, this.body);
    this.empty = element("div", { class: "jmcp-rows-empty" });
    this.panel = element("div", { class: "jmcp-rows-panel", id: `${this.id}-panel` }, this.grid, this.empty);
    this.root.append(this.search, this.note, this.tabs, this.panel);
    el.append(this.root);
    this.frame();
  }

  frame() {
    const label = this.get("label");
    this.grid.setAttribute("role", this.get("tree") ? "treegrid" : "grid");
    this.grid.setAttribute("aria-label", label);
    if (this.get("multiple")) this.grid.setAttribute("aria-multiselectable", "true");
    const placeholder = this.get("placeholder");
    this.search.hidden = !placeholder;
    this.search.placeholder = placeholder;
    this.search.setAttribute("aria-label", placeholder);
    this.drawWords();
    this.empty.textContent = this.get("empty");
    this.columns = this.get("columns").map((column, at) => ({ ...column, at }));
    if (this.root.clientWidth && this.root.clientWidth < NARROW) this.columns = this.columns.filter((one) => !one.wide);
    this.template = this.columns.map((column) => column.width).join(" ");
    this.drawTabs();
    this.drawHead();
  }

  /** What changes at each key of a search, apart from the rows. */
  drawWords() {
    if (document.activeElement !== this.search) this.search.value = this.get("query");
    this.note.textContent = this.get("note");
    this.note.hidden = !this.get("placeholder") && !this.get("note");
  }

  drawTabs() {
    const tabs = this.get("tabs");
    const focused = this.tabs.contains(document.activeElement);
    this.tabs.hidden = !tabs.length;
    this.tabs.setAttribute("aria-label", this.get("label"));
    this.tabs.replaceChildren(...tabs.map(([key, words]) => this.drawTab(key, words)));
    const at = tabs.findIndex(([key]) => key === this.get("tab"));
    if (at >= 0) {
      this.panel.setAttribute("role", "tabpanel");
      this.panel.setAttribute("aria-labelledby", `${this.id}-tab-${tabs[at][0]}`);
      if (focused) this.tabs.children[at].focus();
    }
  }

  drawTab(key, words) {
    const chosen = key === this.get("tab");
    const made = element(
      "button",
      {
        type: "button",
        role: "tab",
        class: "jmcp-rows-tab",
        id: `${this.id}-tab-${key}`,
        "aria-selected": String(chosen),
        "aria-controls": `${this.id}-panel`,
        tabindex: chosen ? "0" : "-1",
      },
      words,
    );
    made.addEventListener("click", () => this.send("tab", { key }));
    return made;
  }

  tabKey(event) {
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    const tabs = this.get("tabs").map(([key]) => key);
    const at = tabs.indexOf(this.get("tab"));
    if (event.key in steps) this.send("tab", { key: tabs[(at + steps[event.key] + tabs.length) % tabs.length] });
    else if (event.key === "ArrowDown" && this.count) this.grid.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  drawHead() {
    this.head.replaceChildren();
    this.head.hidden = !this.get("heads");
    if (this.head.hidden) return;
    const row = element("div", { role: "row", class: "jmcp-rows-line", "aria-rowindex": "1" });
    row.style.gridTemplateColumns = this.template;
    row.style.height = "26px";
    for (const column of this.columns) row.append(this.heading(column));
    this.head.append(row);
  }

  heading(column) {
    const [key, descending] = this.get("sorting");
    const sorted = key === column.key;
    const kind = column.kind === "number" ? "jmcp-rows-cell jmcp-rows-number" : "jmcp-rows-cell";
    const cell = element("span", { role: "columnheader", class: kind });
    if (!column.sortable) {
      cell.textContent = column.title;
      return cell;
    }
    cell.setAttribute("aria-sort", sorted ? (descending ? "descending" : "ascending") : "none");
    const button = element("button", { type: "button", class: "jmcp-rows-sort" }, column.title + (sorted ? (descending ? " ▾" : " ▴") : ""));
    button.addEventListener("click", () => this.send("sort", { key: column.key, descending: sorted && !descending }));
    cell.append(button);
    return cell;
  }

  // --- what the kernel says ---

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

  /** Search for what is in the box now. While the kernel looks, further keys wait and are one search. */
  find() {
    if (this.searching) {
      this.searchAgain = true;
      return;
    }
    this.searching = setTimeout(() => this.found(), SEARCH_MS);
    this.send("search", { text: this.search.value });
  }

  found() {
    clearTimeout(this.searching);
    this.searching = 0;
    if (!this.searchAgain) return;
    this.searchAgain = false;
    this.find();
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

  // --- drawing ---

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
    const node = this.line(index, row);
    if (old) old.node.replaceWith(node);
    else this.body.append(node);
    this.drawn.set(index, { node, text });
  }

  line(index, row) {
    const height = this.get("row_height");
    const node = element("div", {
      role: "row",
      class: "jmcp-rows-row jmcp-rows-line",
      id: `${this.id}-${index}`,
      "aria-rowindex": String(index + (this.get("heads") ? 2 : 1)),
    });
    node.dataset.index = String(index);
    node.style.cssText = `top:${index * height}px;height:${height}px;grid-template-columns:${this.template}`;
    if (!row) {
      node.append(element("span", { role: "gridcell", class: "jmcp-rows-cell jmcp-rows-detail" }, "…"));
      return node;
    }
    if (this.get("tree")) node.setAttribute("aria-level", String((row.depth ?? 0) + 1));
    if (row.open !== undefined) node.setAttribute("aria-expanded", String(row.open));
    if (this.get("multiple") && !row.fixed) node.setAttribute("aria-selected", String(this.get("selected").includes(row.id)));
    if (row.id === this.get("current")) node.setAttribute("aria-current", "true");
    this.columns.forEach((column, at) => node.append(at === 0 ? this.first(row, column) : this.cell(row, column)));
    return node;
  }

  first(row, column) {
    const words = element("div", { class: "jmcp-rows-words" });
    words.append(element("div", { class: column.kind === "text" ? null : `jmcp-rows-${column.kind}` }, row.cells[column.at]));
    if (row.detail) words.append(element("div", { class: "jmcp-rows-detail" }, row.detail));
    const cell = element("div", { role: "gridcell", class: "jmcp-rows-cell jmcp-rows-first", title: row.cells[column.at] });
    cell.style.paddingLeft = `${(row.depth ?? 0) * 16}px`;
    if (this.get("multiple") && !row.fixed) cell.append(this.tick(row));
    if (row.open !== undefined) cell.append(element("span", { class: "jmcp-rows-twist", "aria-hidden": "true" }, row.open ? "▾" : "▸"));
    else if (this.get("tree") && !this.get("multiple")) cell.append(element("span", { class: "jmcp-rows-twist" }));
    if (row.icon) cell.append(this.icon(row.icon));
    cell.append(words);
    const apart = this.columns.some((one) => one.kind === "badges");
    const badges = this.badges({ marks: row.marks, badges: apart ? [] : row.badges });
    if (badges.childElementCount) cell.append(badges);
    return cell;
  }

  tick(row) {
    const on = this.get("selected").includes(row.id);
    return element("span", { class: "jmcp-rows-tick", "aria-hidden": "true" }, on ? "☑" : "☐");
  }

  icon(key) {
    const made = element("img", { class: "jmcp-rows-icon", alt: "" });
    const url = this.pictures.get(key);
    if (url === undefined) {
      this.pictures.set(key, "");
      this.send("icon", { key });
    }
    if (url) made.src = url;
    else made.style.visibility = "hidden";
    return made;
  }

  badges(row) {
    const made = element("span", { class: "jmcp-rows-badges" });
    for (const mark of row.marks ?? []) made.append(element("span", { class: "jmcp-rows-badge jmcp-mark" }, mark));
    for (const [text, tone] of row.badges ?? []) made.append(element("span", { class: `jmcp-rows-badge jmcp-${tone || "plain"}` }, text));
    return made;
  }

  cell(row, column) {
    if (column.kind === "badges") {
      const made = element("span", { role: "gridcell", class: "jmcp-rows-cell" });
      made.append(this.badges({ badges: row.badges }));
      return made;
    }
    const kind = column.kind === "text" ? "" : ` jmcp-rows-${column.kind}`;
    return element("span", { role: "gridcell", class: `jmcp-rows-cell${kind}`, title: row.cells[column.at] }, row.cells[column.at]);
  }

  mark() {
    const row = this.rows.get(this.active);
    if (row) this.activeId = row.id;
    for (const [index, { node }] of this.drawn) node.classList.toggle("jmcp-rows-active", index === this.active);
    if (this.drawn.has(this.active)) this.grid.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  // --- hands ---

  go(index) {
    if (!this.count) return;
    this.active = Math.max(0, Math.min(index, this.count - 1));
    const height = this.get("row_height");
    const headed = this.head.hidden ? 0 : this.head.offsetHeight;
    const top = this.active * height;
    if (top < this.grid.scrollTop) this.grid.scrollTop = top;
    const bottom = top + height + headed - this.grid.clientHeight;
    if (bottom > this.grid.scrollTop) this.grid.scrollTop = bottom;
    this.draw();
  }

  key(event) {
    if (event.target !== this.grid || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const page = Math.max(1, Math.floor(this.grid.clientHeight / this.get("row_height")) - 1);
    const row = this.rows.get(this.active);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in moves) this.go(this.active + moves[event.key]);
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.count - 1);
    else if (event.key === "ArrowRight") this.unfold(row);
    else if (event.key === "ArrowLeft") this.fold(row);
    else if (event.key === "Enter") this.open(row);
    else if (event.key === "/" && !this.search.hidden) this.search.focus();
    else if (event.key === " " && !this.typed) this.get("multiple") && row && !row.fixed ? this.select(row) : this.open(row);
    else if (event.key.length === 1) this.type(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  searchKey(event) {
    if (event.key === "ArrowDown" && this.count) {
      event.preventDefault();
      this.grid.focus();
      this.go(this.active);
    } else if (event.key === "Escape" && this.search.value) {
      event.preventDefault();
      this.search.value = "";
      this.find();
    } else return;
    event.stopPropagation();
  }

  type(letter) {
    clearTimeout(this.typing);
    const after = this.typed ? this.active - 1 : this.active;
    this.typed += letter;
    this.typing = setTimeout(() => (this.typed = ""), TYPED_MS);
    this.send("find", { prefix: this.typed, after });
  }

  click(event) {
    const node = event.target.closest("[role=row]");
    const row = node && this.rows.get(Number(node.dataset.index));
    if (!row) return;
    this.active = Number(node.dataset.index);
    this.grid.focus({ preventScroll: true });
    if (event.target.closest(".jmcp-rows-tick") || (this.get("multiple") && (event.ctrlKey || event.metaKey))) this.select(row);
    else if (event.target.closest(".jmcp-rows-twist") && row.open !== undefined) this.toggle(row);
    else this.open(row);
    this.mark();
  }

  open(row) {
    if (row && row.fixed && row.open !== undefined) this.toggle(row);
    else if (row) this.send("open", { id: row.id });
  }

  toggle(row) {
    this.send("toggle", { id: row.id, open: !row.open });
  }

  unfold(row) {
    if (!row || row.open === undefined) return;
    if (row.open) this.go(this.active + 1);
    else this.toggle(row);
  }

  fold(row) {
    if (!row) return;
    if (row.open) this.toggle(row);
    else if (row.depth) this.go(row.up);
  }

  select(row) {
    if (row && !row.fixed && this.get("multiple")) this.send("select", { id: row.id, on: !this.get("selected").includes(row.id) });
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
