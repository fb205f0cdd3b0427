/**
 * What is dragged over a notebook and let go there: which cell is under it, and where a new one would come.
 *
 * What is carried is known by whoever started the drag; this is the notebook's side of it.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import type { Drag } from '@lumino/dragdrop';

const EVENTS = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'] as const;
const QUESTION = /^\s*%%?mcp\s+ask\b/;

/** Where something was dropped. */
export interface Place {
  /** The index that a new cell gets. */
  at: number;
  /** The question under the pointer; null when a cell is wanted. */
  question: number | null;
}

export interface DropOptions<Item> {
  panel: NotebookPanel;
  /** What of ours a drag carries; nothing when it is another's. */
  carried: (drag: Drag.Event) => readonly Item[];
  /** Whether it is left to the cell under it, by the cell's index. */
  leave?: (items: readonly Item[], cell: number) => boolean;
  dropped: (panel: NotebookPanel, items: readonly Item[], place: Place) => void;
}

/** The drops of one kind on one notebook. */
export class NotebookDrops<Item> implements IDisposable {
  constructor(options: DropOptions<Item>) {
    this._options = options;
    this._panel = options.panel;
    for (const kind of EVENTS) {
      this._panel.content.node.addEventListener(kind, this, true); // before cells, which take pictures only
    }
    this._panel.disposed.connect(() => {
      this.dispose();
    });
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    for (const kind of EVENTS) {
      this._panel.content.node.removeEventListener(kind, this, true);
    }
  }

  handleEvent(event: Event): void {
    const drag = event as unknown as Drag.Event;
    const items = this._options.carried(drag);
    if (items.length === 0 || this._options.leave?.(items, this._under(drag)) === true) {
      return;
    }
    drag.preventDefault();
    drag.stopPropagation();
    this._mark(drag.type === 'lm-dragover' || drag.type === 'lm-dragenter' ? this._under(drag) : -1);
    if (drag.type === 'lm-dragover') {
      drag.dropAction = drag.proposedAction;
    } else if (drag.type === 'lm-drop') {
      drag.dropAction = drag.proposedAction;
      this._options.dropped(this._panel, items, this._place(drag));
    }
  }

  private _under(drag: Drag.Event): number {
    const target = drag.target as Node | null;
    return this._panel.content.widgets.findIndex(cell => cell.node.contains(target));
  }

  private _place(drag: Drag.Event): Place {
    const cells = this._panel.content.widgets;
    const index = this._under(drag);
    const cell = cells[index];
    if (cell === undefined) {
      return { at: cells.length, question: null };
    }
    const asks = QUESTION.test(cell.model.sharedModel.getSource());
    const { top, height } = cell.node.getBoundingClientRect();
    const above = drag.clientY < top + height / 2;
    return { at: above ? index : index + 1, question: asks ? index : null };
  }

  private _mark(index: number): void {
    for (const [at, cell] of this._panel.content.widgets.entries()) {
      cell.node.classList.toggle('jmcp-drop', at === index);
    }
  }

  private readonly _options: DropOptions<Item>;
  private readonly _panel: NotebookPanel;
  private _isDisposed = false;
}
