import { describe, expect, it, vi } from 'vitest';

import { StatusItem } from '../../src/status/item';
import { GRACE, noticeOf, Notices, type Waiting } from '../../src/status/notices';

function question(id: string, notebook = 'work/a.ipynb', title = 'Which seat?'): Waiting {
  return { id, server: 'demo', title, notebook, cell: '', model: '' };
}

/** Notices of a person who sees what is in `seen`. */
function notices(seen = new Set<string>()): {
  notices: Notices;
  said: string[];
  back: string[];
  later: (milliseconds: number) => void;
} {
  const [said, back]: [string[], string[]] = [[], []];
  let time = 0;
  const made = new Notices({
    inSight: (one): boolean => seen.has(one.id),
    say: (one): (() => void) => {
      said.push(one.id);
      return (): void => {
        back.push(one.id);
      };
    },
    now: (): number => time
  });
  const later = (milliseconds: number): void => {
    time += milliseconds;
  };
  return { notices: made, said, back, later };
}

describe('a question out of sight', () => {
  it('is said once, after a moment, and taken back when it is answered', () => {
    const { notices: made, said, back, later } = notices();
    made.update('work/a.ipynb', [question('1')]);
    expect([said, made.waiting]).toEqual([[], true]);
    later(GRACE);
    made.update('work/a.ipynb', [question('1')]);
    made.update('work/a.ipynb', [question('1')]);
    expect([said, back]).toEqual([['1'], []]);
    made.update('work/b.ipynb', []);
    expect(back).toEqual([]);
    made.update('work/a.ipynb', []);
    expect([back, made.waiting]).toEqual([['1'], false]);
  });

  it('is not said while it is before the person, but when they have looked away for a moment', () => {
    const seen = new Set<string>();
    const { notices: made, said, back, later } = notices(seen);
    made.update('work/a.ipynb', [question('1')]);
    seen.add('1'); // its card has been drawn
    later(GRACE);
    made.update('work/a.ipynb', [question('1')]);
    expect(said).toEqual([]);
    seen.clear();
    made.update('work/a.ipynb', [question('1')]);
    later(GRACE);
    made.update('work/a.ipynb', [question('1')]);
    expect([said, back]).toEqual([['1'], []]);
    seen.add('1'); // found
    made.update('work/a.ipynb', [question('1')]);
    expect(back).toContain('1');
    seen.clear();
    later(GRACE);
    made.update('work/a.ipynb', [question('1')]);
    later(GRACE);
    made.update('work/a.ipynb', [question('1')]);
    expect(said).toEqual(['1']);
  });

  it('is not taken for that of another notebook', () => {
    const { notices: made, said, back, later } = notices();
    for (let turn = 0; turn < 2; turn += 1) {
      made.update('a.ipynb', [question('1', 'a.ipynb')]);
      made.update('b.ipynb', [question('1', 'b.ipynb')]);
      later(GRACE);
    }
    made.update('a.ipynb', []);
    expect([said, back]).toEqual([['1', '1'], ['1']]);
  });

  it('is one short line', () => {
    expect(noticeOf(question('1'))).toBe('demo waits for your answer in a.ipynb: Which seat?');
    expect(noticeOf(question('1', 'a.ipynb', ''))).toBe('demo waits for your answer in a.ipynb.');
    expect(noticeOf(question('1', 'a.ipynb', 'a\n'.repeat(200)))).toHaveLength(140);
  });
});

describe('the item of the status bar', () => {
  it('is there when there is something to say, and opens the panel', () => {
    const pressed = vi.fn();
    const item = new StatusItem(pressed);
    expect(item.isHidden).toBe(true);
    item.say({ text: 'MCP: 1 server', title: '1 MCP server connected. Open the panel.', urgent: false });
    expect(item.isHidden).toBe(false);
    const [button] = item.node.getElementsByTagName('button');
    expect(button?.textContent).toBe('MCP: 1 server');
    expect(item.node.querySelector('[role=status]')?.textContent).toBe('');
    item.say({ text: 'MCP: 1 question waits', title: '1 question waits for your answer.', urgent: true });
    expect(item.node.querySelector('[role=status]')?.textContent).toBe('1 question waits for your answer.');
    button?.click();
    expect(pressed).toHaveBeenCalledTimes(1);
  });

  it('tells whoever shows and hides it when there is nothing to say any more', () => {
    const item = new StatusItem(vi.fn());
    const told: boolean[] = [];
    item.activeChanged.connect(() => told.push(item.isActive));
    item.say({ text: 'MCP: 1 server', title: '', urgent: false });
    item.say({ text: '', title: '', urgent: false });
    expect(told).toEqual([true, false]);
  });
});
