import { describe, expect, it, vi } from 'vitest';

import { Signal } from '@lumino/signaling';

import type { Link, Links } from '../../src/commands/parts';
import { readServers, ServerSection } from '../../src/panel/servers';

vi.mock('@jupyterlab/apputils', () => ({ Notification: {} })); // needs more of a browser than there is here

const EVIL = '<img src=x onerror=alert(1)>';
const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

function page(servers: unknown): {
  section: ServerSection;
  asked: unknown[][];
  told: (next: unknown, revision: string) => Promise<void>;
} {
  const asked: unknown[][] = [];
  let answer = servers;
  const request = vi.fn((...what: unknown[]) => {
    asked.push(what);
    return what[0] === 'servers' ? Promise.resolve({ servers: answer }) : Promise.reject(new Error('It is denied.'));
  });
  const changed = new Signal<object, unknown>({});
  const link = { request, revision: '1' } as unknown as Link;
  const links = { current: link, changed, all: [link] } as unknown as Links;
  const told = async (next: unknown, revision: string): Promise<void> => {
    answer = next;
    Object.assign(link, { revision });
    changed.emit(undefined);
    await settled();
  };
  return { section: new ServerSection(links, () => undefined), asked, told };
}

describe('the servers', () => {
  it('are read without trust, and drawn as text', async () => {
    expect(readServers(null)).toEqual([]);
    expect(readServers({ servers: [7, { name: 'a', notes: [1, 'b'] }] })).toMatchObject([
      { name: '' },
      { name: 'a', notes: ['', 'b'] }
    ]);
    const { section } = page([{ name: EVIL, state: EVIL, said: EVIL, problem: EVIL, target: EVIL }]);
    await settled();
    expect(section.node.querySelector('img')).toBeNull();
    expect(section.node.textContent).toContain(EVIL);
    section.dispose();
  });

  it('are asked for again only when they are others, and keep their rows', async () => {
    const { section, asked, told } = page([{ name: 'a', state: 'starting' }]);
    await settled();
    const row = section.node.querySelector('.jmcp-rows li');
    await told([], '1');
    expect(asked).toHaveLength(1);
    await told([{ name: 'a', state: 'ready' }, { name: 'b' }], '2');
    const rows = section.node.querySelectorAll('.jmcp-rows > li');
    expect([rows.length, rows[0] === row]).toEqual([2, true]);
    expect(rows[0]?.textContent).toContain('ready');
    section.dispose();
  });

  it('say what went wrong in their row', async () => {
    const { section } = page([{ name: 'a', state: 'ready' }]);
    await settled();
    section.node.querySelector<HTMLButtonElement>('li button[aria-label="Reconnect a"]')?.click();
    await settled();
    expect(section.node.querySelector('li')?.textContent).toContain('It is denied.');
    section.dispose();
  });
});
