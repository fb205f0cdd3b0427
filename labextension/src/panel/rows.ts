/** Rows of a list that stay the same elements as long as what they show does, so that focus and what is open stay. */

/** What draws one thing, again and again. */
export interface Drawn<Item> {
  readonly node: HTMLElement;
  draw: (item: Item) => void;
}

/** The rows of one list, by the keys of what they show. */
export class Rows<Item, Row extends Drawn<Item>> {
  constructor(list: HTMLElement, key: (item: Item) => string) {
    this._list = list;
    this._key = key;
  }

  /** Those that are shown. */
  get shown(): Row[] {
    return [...this._rows.values()];
  }

  /** Show these; `make` gives a row for what has none yet. New ones come last. */
  draw(items: readonly Item[], make: (item: Item) => Row): void {
    const keys = new Set(items.map(this._key));
    for (const [key, row] of [...this._rows]) {
      if (!keys.has(key)) {
        row.node.remove();
        this._rows.delete(key);
      }
    }
    for (const item of items) {
      const key = this._key(item);
      let row = this._rows.get(key);
      if (row === undefined) {
        row = make(item);
        this._rows.set(key, row);
        this._list.append(row.node);
      }
      row.draw(item);
    }
  }

  /** Show none. */
  clear(): void {
    this._rows.clear();
    this._list.replaceChildren();
  }

  private readonly _list: HTMLElement;
  private readonly _key: (item: Item) => string;
  private readonly _rows = new Map<string, Row>();
}
