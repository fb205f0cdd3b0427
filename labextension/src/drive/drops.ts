/**
 * Resources that are dragged from the drive into a notebook: a cell that reads each, or, over a question to a model, a
 * mention in it. A picture over a Markdown cell that is being edited stays JupyterLab's: it becomes an attachment.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import type { Drag } from '@lumino/dragdrop';

import { DRIVE } from './drive';

/** What a file browser's drag carries: the paths of what is dragged. */
const PATHS = 'application/x-jupyter-icontents';
const EVENTS = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'] as const;
const QUESTION = /^\s*%%?mcp\s+ask\b/;
const PICTURE = /\.(png|jpe?g|gif|webp|bmp|svg)$/i;

/** Where something was dropped. */
export interface Place {
  /** The index that a new cell gets. */
  at: number;
  /** The question under the pointer; null when a cell is wanted. */
  question: number | null;
}

export interface DropOptions {
  panel: NotebookPanel;
  /** Called with paths of the drive, without its name. */
  dropped: (panel: NotebookPanel, paths: readonly string[], place: Place) => void;
}

/** The drops on one notebook. */
export class NotebookDrops implements IDisposable {
  constructor(options: DropOptions) {
    this._panel = options.panel;
    this._dropped = options.dropped;
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
    const paths = draggedPaths(drag);
    if (paths.length === 0 || this._isAttachment(drag, paths)) {
      return;
    }
    drag.preventDefault();
    drag.stopPropagation();
    this._mark(drag.type === 'lm-dragover' || drag.type === 'lm-dragenter' ? this._under(drag) : -1);
    if (drag.type === 'lm-dragover') {
      drag.dropAction = drag.proposedAction;
    } else if (drag.type === 'lm-drop') {
      drag.dropAction = drag.proposedAction;
      this._dropped(this._panel, paths, this._place(drag));
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

  /** A picture over a Markdown cell in edit mode. */
  private _isAttachment(drag: Drag.Event, paths: readonly string[]): boolean {
    const cell = this._panel.content.widgets[this._under(drag)];
    const written = cell?.model.type === 'markdown' && !(cell as unknown as { rendered: boolean }).rendered;
    return written && paths.every(path => PICTURE.test(path));
  }

  private _mark(index: number): void {
    for (const [at, cell] of this._panel.content.widgets.entries()) {
      cell.node.classList.toggle('jmcp-drop', at === index);
    }
  }

  private readonly _panel: NotebookPanel;
  private readonly _dropped: DropOptions['dropped'];
  private _isDisposed = false;
}

/** The paths of a drag, without the drive's name; none when anything in it is from elsewhere. */
export function draggedPaths(drag: Drag.Event): string[] {
  const found: unknown = drag.mimeData.getData(PATHS);
  const paths = Array.isArray(found) ? found.filter(one => typeof one === 'string') : [];
  const ours = paths.filter(path => path.startsWith(`${DRIVE}:`)).map(path => path.slice(DRIVE.length + 1));
  return ours.length === paths.length ? ours : [];
}
