import { describe, expect, it, vi } from 'vitest';

import { StatusItem } from '../../src/status/item';
import { noticeOf, Notices, type Waiting } from '../../src/status/notices';

function question(id: string, notebook = 'work/a.ipynb', title = 'Which seat?'): Waiting {
  return { id, server: 'demo', title, notebook };
}

function notices(seen = new Set<string>()): { notices: Notices; said: string[]; back: string[] } {
  const [said, back]: [string[], string[]] = [[], []];
  const made = new Notices({
    inSight: (one): boolean => seen.has(one.id),
    say: (one): (() => void) => {
      said.push(one.id);
      return (): void => {
        back.push(one.id);
      };
    }
  });
  return { notices: made, said, back };
}

describe('a question out of sight', () => {
  it('is said once, and taken back when it is answered', () => {
    const { notices: made, said, back } = notices();
    made.update('work/a.ipynb', [question('1')]);
    made.update('work/a.ipynb', [question('1')]);
    expect([said, back]).toEqual([['1'], []]);
    made.update('work/b.ipynb', []);
    expect(back).toEqual([]);
    made.update('work/a.ipynb', []);
    expect(back).toEqual(['1']);
  });

  it('is not said while it is before the person, but when they have looked away', () => {
    const seen = new Set(['1']);
    const { notices: made, said } = notices(seen);
    made.update('work/a.ipynb', [question('1')]);
    expect(said).toEqual([]);
    seen.clear();
    made.update('work/a.ipynb', [question('1')]);
    expect(said).toEqual(['1']);
  });

  it('is not taken for that of another notebook', () => {
    const { notices: made, said, back } = notices();
    made.update('a.ipynb', [question('1', 'a.ipynb')]);
    made.update('b.ipynb', [question('1', 'b.ipynb')]);
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
});
