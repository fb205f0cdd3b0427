/** A card is live while its kernel knows it, and its saved form otherwise. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Widget } from '@lumino/widgets';

import { CardRenderer } from '../src/card';
import { CARD, VIEW } from '../src/mime';
import { output, Page, settled, words } from './page';

const SAVED = '<p>eleven tools</p>';

let page: Page;
let card: CardRenderer;

beforeEach(() => {
  page = new Page();
  card = new CardRenderer({ createRenderer: page.createRenderer, getFactory: page.getFactory, patience: 20 });
  Widget.attach(card, document.body);
});

afterEach(() => {
  card.dispose();
});

describe('a card whose kernel knows it', () => {
  it('is live, and its saved form is not beside it', async () => {
    await card.renderModel(output(SAVED));
    expect(card.live).toBe(true);
    expect(card.node.querySelectorAll('.live-view')).toHaveLength(1);
    expect(words(card)).toBe('');
  });

  it('keeps its view when the output is written again with the same model', async () => {
    await card.renderModel(output(SAVED));
    const view = card.node.querySelector('.live-view');
    await card.renderModel(output('<p>ten tools</p>'));
    expect(card.node.querySelector('.live-view')).toBe(view);
    expect(page.widgets).toHaveLength(1);
  });

  it('is drawn anew when the output names another model', async () => {
    page.models.add('m2');
    await card.renderModel(output(SAVED));
    await card.renderModel(output(SAVED, {}, 'm2'));
    expect(card.live).toBe(true);
    expect(page.widgets[0]?.isDisposed).toBe(true);
    expect(card.node.querySelectorAll('.live-view')).toHaveLength(1);
  });

  it('shows its saved form when the kernel closes it', async () => {
    await card.renderModel(output(SAVED));
    page.widgets[0]?.widgets[0]?.dispose();
    await settled();
    expect(card.live).toBe(false);
    expect(words(card)).toBe('eleven tools');
  });
});

describe('a card whose model is gone', () => {
  beforeEach(() => {
    page.models.clear();
  });

  it('shows its saved form and no error', async () => {
    await card.renderModel(output(SAVED));
    expect(words(card)).toBe('eleven tools');
  });

  it('has its saved form cleaned, however much the notebook is trusted', async () => {
    await card.renderModel(output(SAVED));
    expect(page.trusted).toEqual([false]);
  });

  it('shows nothing when its content is an output of its own', async () => {
    await card.renderModel(output(null, { explorer: true }));
    expect(words(card)).toBe('');
    expect(card.node.querySelectorAll('.live-view')).toHaveLength(0);
  });

  it('shows its saved form as well when the renderer of widgets fails', async () => {
    page.broken = true;
    await card.renderModel(output(SAVED));
    expect(words(card)).toBe('eleven tools');
  });

  it('shows what is saved now when the output is written again', async () => {
    await card.renderModel(output(SAVED));
    await card.renderModel(output('<p>ten tools</p>'));
    expect(words(card)).toBe('ten tools');
  });

  it('becomes live when the model is found after all', async () => {
    await card.renderModel(output(SAVED));
    page.widgets[0]?.showView();
    await settled();
    expect(card.live).toBe(true);
    expect(words(card)).toBe('');
  });
});

it('a page without a kernel shows the saved form after a moment, and the live one once there is a kernel', async () => {
  page.silent = true;
  await card.renderModel(output(SAVED));
  expect(words(card)).toBe('eleven tools');
  page.widgets[0]?.showView();
  await settled();
  expect(card.live).toBe(true);
  expect(words(card)).toBe('');
});

it('a renderer of widgets that was made before the kernel was known is asked no more when there is another', async () => {
  page.silent = true;
  await card.renderModel(output(SAVED));
  expect(await card.retry()).toBe(false);
  page.silent = false;
  page.factory = {};
  expect(await card.retry()).toBe(true);
  expect(page.widgets).toHaveLength(2);
  expect(page.widgets[0]?.isDisposed).toBe(true);
  expect(card.live).toBe(true);
  expect(words(card)).toBe('');
  page.factory = {};
  expect(await card.retry()).toBe(false);
});

it('a card notices by itself that there is another renderer of widgets', async () => {
  page.silent = true;
  await card.renderModel(output(SAVED));
  page.silent = false;
  page.factory = {};
  await vi.waitUntil(() => card.live, { timeout: 3000 });
  expect(words(card)).toBe('');
});

it('when the kernel goes the live form goes too, and a line says what to do', async () => {
  await card.renderModel(output(SAVED));
  await card.expire();
  expect(card.node.querySelectorAll('.live-view')).toHaveLength(0);
  expect(words(card)).toContain('Run the cell again');
  expect(words(card)).toContain('eleven tools');
  await card.expire();
  expect(words(card).match(/eleven tools/g)).toHaveLength(1);
});

it('a card that was not live says nothing when the kernel goes', async () => {
  page.models.clear();
  await card.renderModel(output(SAVED, { model_id: null }));
  await card.expire();
  expect(words(card)).toBe('eleven tools');
});

it.each([
  ['no card at all', { [CARD]: undefined }],
  ['a later version', { [CARD]: { version: 2, model_id: 'm1', explorer: false } }],
  ['a card that is a list', { [CARD]: ['m1'] }],
  ['another model than its view', { [VIEW]: { model_id: 'm9' } }],
  ['a view that was closed', { [VIEW]: { model_id: '' } }],
  ['a model that is a number', { [CARD]: { version: 1, model_id: 7, explorer: false } }]
])('an output with %s is not asked of the kernel', async (_, changed) => {
  const model = output(SAVED);
  await card.renderModel({ ...model, data: { ...model.data, ...changed } });
  expect(page.widgets).toHaveLength(0);
  expect(words(card)).toBe('eleven tools');
});

it('a notebook file may hold the saved form as lines', async () => {
  page.models.clear();
  const model = output(null);
  const data = { ...model.data, 'text/html': ['<p>eleven ', 'tools</p>'] };
  await card.renderModel({ ...model, data });
  expect(words(card)).toBe('eleven tools');
});

it('a card that leaves the page while it is looked for draws nothing more', async () => {
  page.silent = true;
  const drawing = card.renderModel(output(SAVED));
  card.dispose();
  await drawing;
  await settled();
  expect(page.trusted).toEqual([]);
});
