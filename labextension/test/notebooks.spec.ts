/** A notebook's cards expire when its kernel goes, and only then. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Signal } from '@lumino/signaling';
import { beforeEach, expect, it } from 'vitest';

import { CardRenderer } from '../src/card';
import { CARD, RANK } from '../src/mime';
import { NotebookCards } from '../src/notebooks';
import { output, Page, settled } from './page';

const WIDGETS_RANK = -10;

class Session {
  readonly statusChanged = new Signal<this, string>(this);
  readonly kernelChanged = new Signal<this, unknown>(this);
}

let page: Page;
let session: Session;
let factory: IRenderMime.IRendererFactory;
let rank: number;
let cards: NotebookCards;

beforeEach(() => {
  page = new Page();
  session = new Session();
  const rendermime = {
    addFactory: (added: IRenderMime.IRendererFactory, at: number): void => {
      factory = added;
      rank = at;
    },
    createRenderer: page.createRenderer,
    getFactory: page.getFactory
  };
  cards = new NotebookCards({ content: { rendermime }, sessionContext: session } as unknown as NotebookPanel);
});

async function shown(): Promise<CardRenderer> {
  const card: unknown = factory.createRenderer({} as IRenderMime.IRendererOptions);
  if (!(card instanceof CardRenderer)) {
    throw new Error('the factory makes something else');
  }
  await card.renderModel(output('<p>saved</p>'));
  return card;
}

it('comes before the renderer of widgets, and not in a notebook that is not trusted', () => {
  expect(factory.mimeTypes).toEqual([CARD]);
  expect(rank).toBe(RANK);
  expect(rank).toBeLessThan(WIDGETS_RANK);
  expect(factory.safe).toBe(false);
});

it.each(['restarting', 'autorestarting', 'dead', 'terminating'])(
  'a kernel that is %s takes the cards along',
  async status => {
    const card = await shown();
    session.statusChanged.emit(status);
    await settled();
    expect(card.live).toBe(false);
  }
);

it.each(['busy', 'idle', 'unknown', 'connected'])('a kernel that is %s leaves them', async status => {
  const card = await shown();
  session.statusChanged.emit(status);
  await settled();
  expect(card.live).toBe(true);
});

it('another kernel takes the cards along, the first one and the same one do not', async () => {
  const card = await shown();
  session.kernelChanged.emit({ oldValue: null, newValue: { id: 'k1' } });
  session.kernelChanged.emit({ oldValue: { id: 'k1' }, newValue: { id: 'k1' } });
  await settled();
  expect(card.live).toBe(true);
  session.kernelChanged.emit({ oldValue: { id: 'k1' }, newValue: null });
  await settled();
  expect(card.live).toBe(false);
});

it('a card that has left the page and a notebook that is closed are forgotten', async () => {
  const [gone, kept] = [await shown(), await shown()];
  gone.dispose();
  session.statusChanged.emit('restarting');
  await settled();
  expect(kept.live).toBe(false);
  const last = await shown();
  cards.dispose();
  session.statusChanged.emit('restarting');
  await settled();
  expect(last.live).toBe(true);
});
