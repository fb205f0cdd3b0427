/**
 * Resources that are dragged from the drive into a notebook: a cell that reads each, or, over a question to a model, a
 * mention in it. A picture over a Markdown cell that is being edited stays JupyterLab's: it becomes an attachment.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Drag } from '@lumino/dragdrop';

import { DRIVE } from './drive';

/** What a file browser's drag carries: the paths of what is dragged. */
const PATHS = 'application/x-jupyter-icontents';
const PICTURE = /\.(png|jpe?g|gif|webp|bmp|svg)$/i;

/** The paths of a drag, without the drive's name; none when anything in it is from elsewhere. */
export function draggedPaths(drag: Drag.Event): string[] {
  const found: unknown = drag.mimeData.getData(PATHS);
  const paths = Array.isArray(found) ? found.filter(one => typeof one === 'string') : [];
  const ours = paths.filter(path => path.startsWith(`${DRIVE}:`)).map(path => path.slice(DRIVE.length + 1));
  return ours.length === paths.length ? ours : [];
}

/** Whether they are pictures over a Markdown cell in edit mode. */
export function isAttachment(panel: NotebookPanel, paths: readonly string[], index: number): boolean {
  const cell = panel.content.widgets[index];
  const written = cell?.model.type === 'markdown' && !(cell as unknown as { rendered: boolean }).rendered;
  return written && paths.every(path => PICTURE.test(path));
}
