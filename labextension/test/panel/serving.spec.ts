import { describe, expect, it, vi } from 'vitest';

import { Signal } from '@lumino/signaling';

import type { Link } from '../../src/commands/parts';
import { ago, exposed, readServed } from '../../src/panel/served';
import { ServingSection } from '../../src/panel/serving';
import { settled, words } from '../page';

vi.mock('@jupyterlab/apputils', () => ({ Notification: {} })); // needs more of a browser than there is here

const ON = {
  served: true,
  name: 'sales',
  names: ['df', '<b>x</b>'],
  variables: 2_000,
  hidden: 3,
  functions: ['double'],
  allow_code: false,
  command: 'claude mcp add sales -- jupyter-mcp-host stdio --notebook sales',
  clients: [{ name: 'an agent', version: '2.1', last: Date.now() / 1000 - 130, requests: 1 }],
  acts: [{ client: 'an agent', what: 'read variables/df', outcome: '' }]
};

class Kernel {
  visits = 1;
  said: unknown = { served: false, again: false };
  readonly request = vi.fn((act: string): Promise<unknown> => {
    if (act === 'serve_start') {
      this.said = ON;
    } else if (act === 'serve_stop') {
      this.said = { served: false, again: true };
    }
    return Promise.resolve(act === 'serve_cell' ? { source: '%mcp serve df' } : this.said);
  });
}

function page(kernel: Kernel | null): {
  section: ServingSection;
  insert: ReturnType<typeof vi.fn>;
  show: (kernel: Kernel | null) => void;
  toggle: HTMLInputElement;
} {
  const changed = new Signal<object, unknown>({});
  const links = { all: [], current: kernel as unknown as Link | null, changed, openPanel: vi.fn() };
  const insert = vi.fn();
  const section = new ServingSection(links, insert);
  document.body.append(section.node);
  const show = (other: Kernel | null): void => {
    links.current = other as unknown as Link | null;
    changed.emit(undefined);
  };
  return { section, insert, show, toggle: section.node.querySelector('input') as unknown as HTMLInputElement };
}

function press(section: ServingSection, name: string): void {
  [...section.node.querySelectorAll('button')].find(one => one.textContent === name)?.click();
}

describe('the section of serving', () => {
  it('says what the switch would do, and once it is on what may be seen and who came', async () => {
    const kernel = new Kernel();
    const { section, toggle } = page(kernel);
    await settled();
    expect([toggle.checked, words(section).includes('They run no code.')]).toEqual([false, true]);
    toggle.click();
    await settled();
    expect(kernel.request).toHaveBeenCalledWith('serve_start');
    expect(toggle.checked).toBe(true);
    for (const said of ['sales is served, for reading only.', 'df, <b>x</b>, 1,998 more; 3 hidden', 'not allowed']) {
      expect(words(section)).toContain(said);
    }
    expect(words(section)).toContain('1 request, the last 2 minutes ago');
    expect(words(section)).toContain('an agent: read variables/df');
    toggle.click();
    await settled();
    expect(words(section)).toContain('served as it was before');
  });

  it('goes back to what is so when it cannot be switched on, and says why in one sentence', async () => {
    const kernel = new Kernel();
    const { section, toggle } = page(kernel);
    await settled();
    kernel.request.mockRejectedValueOnce(new Error('Only x was served, and is not there any more.'));
    toggle.click();
    await settled();
    expect([toggle.checked, toggle.disabled]).toEqual([false, false]);
    expect(section.node.querySelector('[role=alert]')?.textContent).toBe(
      'Only x was served, and is not there any more.'
    );
  });

  it('follows what happens elsewhere, and asks for nothing when nothing has', async () => {
    const kernel = new Kernel();
    const { toggle, show } = page(kernel);
    await settled();
    const asked = kernel.request.mock.calls.length;
    show(kernel);
    await settled();
    expect(kernel.request.mock.calls).toHaveLength(asked);
    kernel.said = ON;
    kernel.visits = 2;
    show(kernel);
    await settled();
    expect(toggle.checked).toBe(true);
  });

  it('shows nothing of a notebook that is not in front any more', async () => {
    const kernel = new Kernel();
    kernel.said = ON;
    const { section, toggle, show } = page(kernel);
    await settled();
    show(null);
    expect([toggle.checked, section.isHidden, words(section).includes('sales')]).toEqual([false, true, false]);
  });

  it('writes the line as a cell', async () => {
    const kernel = new Kernel();
    const { section, insert } = page(kernel);
    press(section, 'Write as a cell');
    await settled();
    expect(insert).toHaveBeenCalledWith(kernel, '%mcp serve df');
  });
});

describe('how a notebook is served', () => {
  it('is read without trust', () => {
    expect(exposed(readServed({ served: true, names: [3, null], clients: 'x' }))).toEqual([
      ['Variables', ', '],
      ['Code', 'not allowed']
    ]);
    expect(exposed(readServed(null))[0]).toEqual(['Variables', 'none yet']);
    expect(exposed(readServed({ ...ON, chosen: true, allow_code: true, code: 'asked', outside: 'ada' }))).toEqual([
      ['Variables', 'df, <b>x</b>, 1,998 more (only these); 3 hidden'],
      ['Functions', 'double'],
      ['From elsewhere', 'ada'],
      ['Code', 'asked']
    ]);
  });

  it.each([
    [0, 'just now'],
    [59, 'just now'],
    [60, '1 minute ago'],
    [7_300, '2 hours ago'],
    [86_400, '1 day ago'],
    [-5, 'just now']
  ])('was %d seconds ago: %s', (seconds, said) => {
    expect(ago(seconds)).toBe(said);
  });
});
