/**
 * "Insert as a cell": a card that has a text for a new cell says so by an event, and the notebook it is in makes one.
 *
 * The event goes up from the button (`jupyter_mcp/notebook/components/newcell.js`). It is cancelled when the cell is
 * there; a page without this extension cancels nothing, and the card copies its text instead.
 */

import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';

export const NEW_CELL = 'jupyter-mcp:new-cell';

/** A cell's source is what a person reads before running it; a larger one is not from a button of ours. */
export const MAX_SOURCE = 1_000_000;

export class NewCellsInNotebooks implements DocumentRegistry.IWidgetExtension<NotebookPanel, INotebookModel> {
  createNew(panel: NotebookPanel): IDisposable {
    return new NewCells(panel);
  }
}

/** The cells that cards of one notebook want; none of them is run. */
export class NewCells implements IDisposable {
  constructor(panel: NotebookPanel) {
    this._panel = panel;
    panel.node.addEventListener(NEW_CELL, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._panel.node.removeEventListener(NEW_CELL, this);
  }

  handleEvent(event: Event): void {
    const wanted = wantedCell((event as CustomEvent<unknown>).detail);
    const notebook = this._panel.content;
    const cells = notebook.model?.sharedModel;
    const at = notebook.widgets.findIndex(cell => cell.node.contains(event.target as Node | null));
    if (wanted === null || cells === undefined || at < 0) {
      return;
    }
    cells.insertCell(at + 1, wanted);
    notebook.activeCellIndex = at + 1;
    event.preventDefault();
  }

  private readonly _panel: NotebookPanel;
  private _isDisposed = false;
}

/** What an event asks for, when it makes sense. */
export function wantedCell(detail: unknown): { cell_type: 'code' | 'markdown'; source: string } | null {
  if (typeof detail !== 'object' || detail === null) {
    return null;
  }
  const { source, kind } = detail as Record<string, unknown>;
  if (typeof source !== 'string' || source === '' || source.length > MAX_SOURCE) {
    return null;
  }
  return kind === 'code' || kind === 'markdown' ? { cell_type: kind, source } : null;
}
