import { describe, expect, it, vi } from 'vitest';

import { Signal } from '@lumino/signaling';

import type { Link } from '../../src/commands/parts';
import { CatalogueSection } from '../../src/panel/catalogue';
import { settled } from '../page';

vi.mock('@jupyterlab/apputils', () => ({ Notification: {} })); // needs more of a browser than there is here

type Asked = Record<string, unknown>;

function offer(number: number): Record<string, unknown> {
  return {
    id: `id-${String(number)}`,
    kind: 'tool',
    server: 'demo',
    name: `<b>tool ${String(number)}</b>`,
    detail: 'about it',
    badges: [{ text: 'read-only', tone: 'ok' }]
  };
}

/** A kernel with so many tools, which answers when it is let. */
class Kernel {
  constructor(total: number) {
    this.total = total;
  }

  total: number;
  most = 1000;
  held: (() => void)[] | null = null;
  readonly asked: Asked[] = [];
  revision = '1';

  readonly request = vi.fn(async (_: string, data: Asked = {}): Promise<unknown> => {
    this.asked.push(data);
    if (this.held !== null) {
      await new Promise<void>(resolve => this.held?.push(resolve));
    }
    const items = Array.from({ length: Math.min(this.total, this.most, data.limit as number) }, (_none, at) =>
      offer(at)
    );
    return { items: [...items, null, { id: 3 }], found: this.total, total: this.total, servers: 1 };
  });
}

function page(kernel: Kernel | null): {
  section: CatalogueSection;
  insert: ReturnType<typeof vi.fn>;
  show: (kernel: Kernel | null) => void;
} {
  const owner = {};
  const changed = new Signal<object, unknown>(owner);
  const links = { all: [], current: kernel as unknown as Link | null, changed, openPanel: vi.fn() };
  const insert = vi.fn();
  const section = new CatalogueSection({ links: links, insert });
  document.body.append(section.node);
  const show = (other: Kernel | null): void => {
    links.current = other as unknown as Link | null;
    changed.emit(undefined);
  };
  return { section, insert, show };
}

function rows(section: CatalogueSection): string[] {
  return [...section.node.querySelectorAll('li b')].map(one => one.textContent ?? '');
}

function type(section: CatalogueSection, words: string): void {
  for (const field of section.node.querySelectorAll('input')) {
    field.value = words;
    field.dispatchEvent(new Event('input'));
  }
}

const status = (section: CatalogueSection): string =>
  section.node.querySelector('[role=status]')?.textContent ?? 'none';

describe('the catalogue', () => {
  it('shows what servers offer as text, with a button that inserts each', async () => {
    const kernel = new Kernel(2);
    const { section, insert } = page(kernel);
    await settled();
    expect(rows(section)).toEqual(['<b>tool 0</b>', '<b>tool 1</b>']);
    expect(status(section)).toBe('2 in all');
    const [, press] = section.node.querySelectorAll<HTMLElement>('li button');
    expect(press?.getAttribute('aria-label')).toBe('Insert a cell: call <b>tool 1</b> of demo');
    press?.click();
    expect(insert).toHaveBeenCalledWith(kernel, expect.objectContaining({ id: 'id-1' }));
  });

  it('asks first for what is known, then to have read what was never read', async () => {
    const kernel = new Kernel(1);
    page(kernel);
    await settled();
    expect(kernel.asked.map(one => one.look)).toEqual([undefined, true, undefined]);
  });

  it('draws no more rows than are looked at', async () => {
    const kernel = new Kernel(2000);
    const { section } = page(kernel);
    await settled();
    expect(rows(section)).toHaveLength(50);
    const more = [...section.node.querySelectorAll('button')].find(one => one.textContent?.startsWith('Show more'));
    expect(more?.textContent).toBe('Show more (1,950 left)');
    more?.click();
    await settled();
    expect(rows(section)).toHaveLength(150);
    kernel.most = 200;
    more?.click();
    await settled();
    expect(rows(section)).toHaveLength(200);
    expect(more?.hidden).toBe(true);
  });

  it('answers the last words, however fast they are typed and however slow the kernel is', async () => {
    const kernel = new Kernel(3);
    const { section } = page(kernel);
    await settled();
    kernel.asked.length = 0;
    kernel.held = [];
    for (const words of ['w', 'we', 'wea', 'weat']) {
      type(section, words);
    }
    const { held } = kernel;
    kernel.held = null;
    held.forEach(go => {
      go();
    });
    await settled();
    expect(kernel.asked.map(one => one.words)).toEqual(['w', 'weat']);
  });

  it('begins anew with each notebook and keeps nothing of the one before', async () => {
    const kernel = new Kernel(3);
    const { section, show } = page(kernel);
    await settled();
    show(null);
    expect(rows(section)).toEqual([]);
    const slow = new Kernel(5);
    slow.held = [];
    show(slow);
    show(null);
    slow.held.forEach(go => {
      go();
    });
    await settled();
    expect(rows(section)).toEqual([]);
    expect(status(section)).toContain('can be searched here');
  });

  it('asks again when lists are others, and only then', async () => {
    const kernel = new Kernel(1);
    const { section, show } = page(kernel);
    await settled();
    const before = kernel.asked.length;
    show(kernel);
    await settled();
    expect(kernel.asked).toHaveLength(before);
    kernel.total = 2;
    kernel.revision = '2';
    show(kernel);
    await settled();
    expect(rows(section)).toHaveLength(2);
  });

  it('leaves the focus with its offer when rows are drawn anew', async () => {
    const kernel = new Kernel(2);
    const { section, show } = page(kernel);
    await settled();
    section.node.querySelectorAll<HTMLElement>('li button')[1]?.focus();
    kernel.total = 3;
    kernel.revision = '2';
    show(kernel);
    await settled();
    expect(rows(section)).toHaveLength(3);
    expect((document.activeElement?.closest('li') as HTMLElement).dataset.id).toBe('id-1');
  });

  it('says in one sentence what went wrong', async () => {
    const kernel = new Kernel(1);
    kernel.request.mockRejectedValue(new Error('The kernel has not answered for two minutes.'));
    const { section } = page(kernel);
    await settled();
    expect(status(section)).toBe('The kernel has not answered for two minutes.');
  });
});
