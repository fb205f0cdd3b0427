/**
 * New cells of a notebook, and what is selected in it. Nothing is run here.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';

/**
 * Put a new cell into a notebook, and make it the active one.
 *
 * @param at its index; by default below the active cell.
 */
export function insertCell(
  panel: NotebookPanel,
  source: string,
  kind: 'code' | 'markdown' = 'code',
  at?: number
): void {
  const notebook = panel.content;
  const cells = notebook.model?.sharedModel;
  if (cells === undefined) {
    return;
  }
  const index = Math.min(at ?? notebook.activeCellIndex + 1, cells.cells.length);
  cells.insertCell(index, { cell_type: kind, source });
  notebook.activeCellIndex = index;
  notebook.deselectAll();
  notebook.activeCell?.node.scrollIntoView({ block: 'nearest' });
}

/** Mark a part of the active cell's text, so that it is replaced by what is typed now. */
export async function fillIn(panel: NotebookPanel, part: string): Promise<void> {
  const cell = panel.content.activeCell;
  const at = part === '' ? -1 : (cell?.model.sharedModel.getSource().indexOf(part) ?? -1);
  if (cell === null || at < 0) {
    return;
  }
  await panel.content.scrollToItem(panel.content.activeCellIndex); // a cell out of sight has no editor
  await cell.ready;
  const editor = cell.editor;
  const [start, end] = [editor?.getPositionAt(at), editor?.getPositionAt(at + part.length)];
  if (panel.content.activeCell === cell && start !== undefined && end !== undefined) {
    editor?.setSelection({ start, end });
    editor?.focus();
  }
}

/** Scroll to a cell, wherever it is. */
export function showCell(panel: NotebookPanel, id: string): void {
  const index = panel.content.widgets.findIndex(cell => cell.model.id === id);
  if (index >= 0) {
    void panel.content.scrollToItem(index, 'center');
  }
}

/** What is selected: in the active cell's text, else in its output, else the whole text of the cell. */
export function selectedText(panel: NotebookPanel): string {
  const cell = panel.content.activeCell;
  if (cell === null) {
    return '';
  }
  const source = cell.model.sharedModel.getSource();
  const editor = cell.editor;
  if (editor !== null) {
    const { start, end } = editor.getSelection();
    const [from, to] = [editor.getOffsetAt(start), editor.getOffsetAt(end)];
    const chosen = source.slice(Math.min(from, to), Math.max(from, to));
    if (chosen !== '') {
      return chosen;
    }
  }
  const marked = document.getSelection();
  const inside = marked?.anchorNode !== null && cell.node.contains(marked?.anchorNode ?? null);
  const text = inside ? (marked?.toString() ?? '') : '';
  return text.trim() === '' ? source : text;
}
