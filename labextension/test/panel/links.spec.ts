import { describe, expect, it, vi } from 'vitest';

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { KernelLinks } from '../../src/panel/links';

const STATE = {
  revision: '3',
  standing: { connected: 1, broken: -4, waiting: 1 },
  questions: [{ id: 'question-1', server: 'demo', title: 'Which?', cell: 'cell-1', model: 'model-1' }, null]
};

/** A kernel that answers control messages with this content. */
function kernel(answer: () => unknown): Kernel.IKernelConnection & { sent: Record<string, unknown>[] } {
  const sent: Record<string, unknown>[] = [];
  const sendControlMessage = (message: { content: Record<string, unknown> }): unknown => {
    sent.push(message.content);
    return { done: Promise.resolve({ content: answer() }), dispose: vi.fn() };
  };
  return { clientId: 'c', username: 'u', sent, sendControlMessage } as never;
}

function page(): {
  links: KernelLinks;
  panel: NotebookPanel;
  open: ReturnType<typeof vi.fn>;
  tell: ReturnType<typeof vi.fn>;
} {
  const panel = { context: { path: 'work/a.ipynb' } } as unknown as NotebookPanel;
  const owner = {};
  const tracker = { currentWidget: panel, currentChanged: new Signal<object, unknown>(owner) };
  const open = vi.fn();
  const tell = vi.fn(() => Promise.resolve());
  return { links: new KernelLinks(tracker as unknown as INotebookTracker, open, tell), panel, open, tell };
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

describe('the kernels of open notebooks', () => {
  it('are asked how they are, at first and after each word of theirs', async () => {
    const { links, panel } = page();
    const [changed, comm] = [vi.fn(), {} as Kernel.IComm];
    links.changed.connect(changed);
    const one = kernel(() => ({ status: 'ok', data: STATE }));
    const link = links.add(panel, one, comm);
    await settled();
    expect(one.sent).toEqual([{ version: 1, kind: 'panel', data: { act: 'state' } }]);
    expect(link.standing).toEqual({ connected: 1, broken: 0, waiting: 1 });
    expect(link.revision).toBe('3');
    expect(link.questions[0]).toEqual({
      id: 'question-1',
      server: 'demo',
      title: 'Which?',
      notebook: 'work/a.ipynb',
      cell: 'cell-1',
      model: 'model-1'
    });
    expect(links.current).toBe(link);
    void comm.onMsg({} as never);
    await settled();
    expect(one.sent).toHaveLength(2);
    expect(changed).toHaveBeenCalledTimes(2);
  });

  it('are one link however often they are found, and none when they are lost', async () => {
    const { links, panel, tell } = page();
    const one = kernel(() => ({ status: 'ok', data: STATE }));
    const link = links.add(panel, one, {} as Kernel.IComm);
    expect(links.add(panel, one, {} as Kernel.IComm)).toBe(link);
    expect(tell.mock.calls).toEqual([[link]]);
    const other = links.add(
      panel,
      kernel(() => ({ status: 'ok', data: STATE })),
      {} as Kernel.IComm
    );
    expect(links.all).toEqual([other]);
    expect(link.isDisposed).toBe(true);
    links.drop(panel);
    await settled();
    expect([links.all, links.current]).toEqual([[], null]);
  });

  it('are asked again after one that did not answer, and when the page has its way back to them', async () => {
    vi.useFakeTimers();
    try {
      const { links, panel, tell } = page();
      let broken = true;
      const one = kernel(() => (broken ? 'odd' : { status: 'ok', data: STATE }));
      const link = links.add(panel, one, {} as Kernel.IComm);
      await vi.advanceTimersByTimeAsync(100);
      expect([one.sent.length, link.revision]).toEqual([1, '']);
      broken = false;
      await vi.advanceTimersByTimeAsync(10_000);
      expect([one.sent.length, link.revision]).toEqual([2, '3']);
      links.again(panel);
      await vi.advanceTimersByTimeAsync(100);
      expect([one.sent.length, tell.mock.calls.length]).toEqual([3, 2]);
      broken = true;
      links.again(panel);
      await vi.advanceTimersByTimeAsync(100);
      links.drop(panel);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(one.sent.length).toBe(4);
    } finally {
      vi.useRealTimers();
    }
  });

  it('say in one sentence what they cannot do', async () => {
    const { links, panel } = page();
    const one = kernel(() => ({ status: 'error', ename: 'UsageError', evalue: 'There is no server x.' }));
    const link = links.add(panel, one, {} as Kernel.IComm);
    await expect(link.request('prompts')).rejects.toThrow('There is no server x.');
    const odd = links.add(
      panel,
      kernel(() => 'odd'),
      {} as Kernel.IComm
    );
    await expect(odd.request('prompts')).rejects.toThrow('did not answer');
  });
});
