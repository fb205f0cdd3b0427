import { describe, expect, it, vi } from 'vitest';

import type { NotebookPanel } from '@jupyterlab/notebook';

import { MAX_SOURCE, NEW_CELL, NewCells, wantedCell } from '../src/newcells';

/** A notebook of two cells, as far as new cells are concerned. */
function notebook(): { panel: NotebookPanel; inner: HTMLElement; insertCell: ReturnType<typeof vi.fn> } {
  const node = document.createElement('div');
  const first = node.appendChild(document.createElement('div'));
  const second = node.appendChild(document.createElement('div'));
  const inner = first.appendChild(document.createElement('button'));
  const insertCell = vi.fn();
  const content = {
    widgets: [{ node: first }, { node: second }],
    model: { sharedModel: { insertCell } },
    activeCellIndex: 0
  };
  return { panel: { node, content } as unknown as NotebookPanel, inner, insertCell };
}

function ask(from: HTMLElement, detail: unknown): boolean {
  return !from.dispatchEvent(new CustomEvent(NEW_CELL, { detail, bubbles: true, cancelable: true }));
}

describe('a card that wants a cell', () => {
  it('gets it below its own, and hears that it is there', () => {
    const { panel, inner, insertCell } = notebook();
    new NewCells(panel);
    expect(ask(inner, { source: '%mcp call demo.add', kind: 'code' })).toBe(true);
    expect(insertCell).toHaveBeenCalledWith(1, { cell_type: 'code', source: '%mcp call demo.add' });
    expect(panel.content.activeCellIndex).toBe(1);
  });

  it('gets none outside a cell, or when the notebook is closed', () => {
    const { panel, inner, insertCell } = notebook();
    const cells = new NewCells(panel);
    expect(ask(panel.node, { source: 'x', kind: 'code' })).toBe(false);
    cells.dispose();
    expect(ask(inner, { source: 'x', kind: 'code' })).toBe(false);
    expect(insertCell).not.toHaveBeenCalled();
  });

  it('gets none for what makes no sense', () => {
    for (const odd of [null, 3, {}, { source: '', kind: 'code' }, { source: 'x', kind: 'raw' }, { kind: 'code' }]) {
      expect(wantedCell(odd)).toBeNull();
    }
    expect(wantedCell({ source: 'x'.repeat(MAX_SOURCE + 1), kind: 'code' })).toBeNull();
    expect(wantedCell({ source: '# Notes', kind: 'markdown' })).toEqual({ cell_type: 'markdown', source: '# Notes' });
  });
});
