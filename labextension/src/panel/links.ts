/**
 * The kernels of open notebooks that have jupyter_mcp loaded.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Links } from '../commands/parts';
import { attach } from './attach';
import { KernelLink } from './link';

export class KernelLinks implements Links {
  constructor(notebooks: INotebookTracker, openPanel: () => void, tell = attach) {
    this._notebooks = notebooks;
    this.openPanel = openPanel;
    this._attach = tell;
    notebooks.currentChanged.connect(() => {
      this._changed.emit(undefined);
    });
  }

  readonly openPanel: () => void;

  get all(): readonly KernelLink[] {
    return this._all;
  }

  get current(): KernelLink | null {
    return this._all.find(one => one.panel === this._notebooks.currentWidget) ?? null;
  }

  get changed(): ISignal<this, undefined> {
    return this._changed;
  }

  /** A notebook's kernel has the extension, and tells what changes by this comm. */
  add(panel: NotebookPanel, kernel: Kernel.IKernelConnection, comm: Kernel.IComm): KernelLink {
    const known = this._all.find(one => one.panel === panel && one.kernel === kernel);
    if (known !== undefined) {
      known.listen(comm);
      void known.refresh();
      return known;
    }
    this.drop(panel);
    const link = new KernelLink(panel, kernel);
    link.changed.connect(() => {
      this._changed.emit(undefined);
    });
    link.listen(comm);
    this._all = [...this._all, link];
    void link.refresh();
    void this._attach(link);
    return link;
  }

  /** The way to a notebook's kernel was broken, and is there again. */
  again(panel: NotebookPanel): void {
    for (const link of this._all.filter(one => one.panel === panel)) {
      void link.refresh();
      void this._attach(link);
    }
  }

  /** A notebook is closed, or its kernel is another one or has forgotten everything. */
  drop(panel: NotebookPanel): void {
    const gone = this._all.filter(one => one.panel === panel);
    if (gone.length > 0) {
      this._all = this._all.filter(one => one.panel !== panel);
      for (const link of gone) {
        link.dispose();
      }
      this._changed.emit(undefined);
    }
  }

  private readonly _notebooks: INotebookTracker;
  private readonly _attach: typeof attach;
  private readonly _changed = new Signal<this, undefined>(this);
  private _all: readonly KernelLink[] = [];
}
