import { describe, expect, it, vi } from 'vitest';

import { Signal } from '@lumino/signaling';

import type { Going, Link, Links } from '../../src/commands/parts';
import { farOf, lasting, RunningSection } from '../../src/panel/running';

vi.mock('@jupyterlab/apputils', () => ({ Notification: {} })); // needs more of a browser than there is here

function going(id: string, more: Partial<Going> = {}): Going {
  return { id, label: `demo.${id}`, seconds: 1, progress: null, total: null, message: '', task: '', ...more };
}

function page(running: Going[]): { section: RunningSection; draw: (next: Going[]) => void; request: unknown } {
  const owner = {};
  const changed = new Signal<object, unknown>(owner);
  const request = vi.fn(() => Promise.resolve({}));
  const link = { running, request } as unknown as Link;
  const links = { current: link, changed, all: [link] } as unknown as Links;
  const draw = (next: Going[]): void => {
    Object.assign(link, { running: next });
    changed.emit(undefined);
  };
  return { section: new RunningSection(links), draw, request };
}

describe('what goes on', () => {
  it('is a row each, which stays the same element, and none when nothing does', () => {
    const { section, draw } = page([]);
    expect(section.isHidden).toBe(true);
    draw([going('slow'), going('book')]);
    expect(section.isHidden).toBe(false);
    const rows = [...section.node.querySelectorAll('li')];
    expect(rows.map(row => row.getAttribute('aria-label'))).toEqual(['demo.slow', 'demo.book']);
    draw([going('slow', { progress: 3, total: 10, message: '<b>bold</b>' })]);
    const [row] = [...section.node.querySelectorAll('li')];
    expect(row).toBe(rows[0]);
    expect(row?.querySelector('progress')?.value).toBe(3);
    expect(row?.querySelector('b:not(.jmcp-row-title b)')).toBeNull();
    expect(row?.textContent).toContain('<b>bold</b>');
    draw([]);
    expect(section.isHidden).toBe(true);
    section.dispose();
  });

  it('is cancelled by its name, once', () => {
    const { section, draw, request } = page([]);
    draw([going('7')]);
    const cancel = section.node.querySelector('button');
    cancel?.click();
    cancel?.click();
    expect(request).toHaveBeenCalledTimes(1);
    expect(request).toHaveBeenCalledWith('cancel', { id: '7' });
    section.dispose();
  });

  it('is told in words', () => {
    expect(farOf(null, 10)).toBe('');
    expect(farOf(3, null)).toBe('3');
    expect(farOf(12, 10)).toBe('10 of 10');
    expect(farOf(1.234567, 0)).toBe('1.23');
    expect([0.4, 59, 60, 125, 3_780].map(lasting)).toEqual(['0 s', '59 s', '1 min 0 s', '2 min 5 s', '1 h 3 min']);
  });
});
