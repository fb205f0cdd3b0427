/** Offers of servers as cells of a notebook: below the active cell, or where they were dropped. */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Drag } from '@lumino/dragdrop';

import { fillIn, insertCell } from '../commands/cells';
import { say, sentenceOf, type Link } from '../commands/parts';
import { NotebookDrops, type Place } from '../drops';
import { record, text } from '../said';
import { CALL, type Carried } from './catalogue';
import type { Offer } from './offers';

/** Write the cell that uses an offer, and mark in it what is still to be said. It is not run. */
export async function insertCall(link: Link, offer: Offer, at?: number): Promise<void> {
  try {
    const said = record(await link.request('catalogue_cell', { id: offer.id }));
    insertCell(link.panel, text(said.source), 'code', at);
    await fillIn(link.panel, text(said.fill));
  } catch (error) {
    say(sentenceOf(error));
  }
}

/** Offers were let go over a notebook. In another one than theirs the cell could not run. */
async function drop(panel: NotebookPanel, carried: readonly Carried[], place: Place): Promise<void> {
  for (const [number, { link, offer }] of carried.entries()) {
    if (link.panel === panel) {
      await insertCall(link, offer, place.at + number);
    } else {
      say(`${offer.server} is connected in ${link.notebook}, not in this notebook.`);
    }
  }
}

/** Take the offers that are dragged out of the catalogue over any notebook. */
export function takeCalls(notebooks: INotebookTracker): void {
  const take = (panel: NotebookPanel): void => {
    new NotebookDrops({ panel, carried, dropped: (...what): void => void drop(...what) });
  };
  notebooks.forEach(take);
  notebooks.widgetAdded.connect((_, panel) => {
    take(panel);
  });
}

function carried(drag: Drag.Event): Carried[] {
  const found = drag.mimeData.getData(CALL) as Carried | undefined;
  return found === undefined ? [] : [found];
}
