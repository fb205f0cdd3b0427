// What stands around the rows of a list: the search with its note, the tabs, the headings.

const NARROW = 460; // pixels; columns marked `wide` are left out below it
const SEARCH_MS = 5000; // a search that is not answered by then is not waited for

class RowsFrame {
  get(name) {
    return this.model.get(name);
  }

  send(type, more) {
    this.model.send({ type, view: this.id, ...more });
  }

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
}
