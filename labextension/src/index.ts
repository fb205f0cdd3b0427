/**
 * jupyter_mcp in JupyterLab and Notebook.
 *
 * Each part is a plugin of its own. No protocol is spoken here: what a page shows comes from the kernel.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { beside } from './commands/plugin';
import { NewCellsInNotebooks } from './newcells';
import { CardsInNotebooks } from './notebooks';

/** Cards stay readable when their kernel is gone. */
const cards: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-mcp-host:cards',
  description: 'Shows live cards, and their saved form when their kernel is gone.',
  autoStart: true,
  activate: (app: JupyterFrontEnd): void => {
    app.docRegistry.addWidgetExtension('Notebook', new CardsInNotebooks());
  }
};

/** Cards put what one did in them into new cells. */
const newCells: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-mcp-host:new-cells',
  description: 'Inserts the cells that cards offer.',
  autoStart: true,
  activate: (app: JupyterFrontEnd): void => {
    app.docRegistry.addWidgetExtension('Notebook', new NewCellsInNotebooks());
  }
};

export default [cards, newCells, beside];
