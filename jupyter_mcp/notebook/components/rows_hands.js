// Keyboard and pointer in the rows of a list. The keyboard is at one row, whatever is drawn.

const TYPED_MS = 700; // letters typed within that belong together

const RowsHands = (Base) =>
  class extends Base {
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
  };
