/**
 * One notebook's kernel that has jupyter_mcp loaded, as the page sees it.
 *
 * Asking goes by the control channel, so it is answered while a cell runs. The kernel says by a comm that something has
 * changed, and nothing more; what it is, is asked then.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Going, Link } from '../commands/parts';
import { list, record, text } from '../said';
import type { Waiting } from '../status/notices';
import type { Standing } from '../status/words';
import { ask, PATIENCE } from './control';

const REQUEST = 'jupyter_mcp_request';

/** The state is known without asking a server: one that does not come soon is not coming. Milliseconds. */
const STATE_PATIENCE = 15_000;
/** After a state that did not come, in milliseconds. */
const AGAIN = 3_000;

export class KernelLink implements Link {
  constructor(panel: NotebookPanel, kernel: Kernel.IKernelConnection) {
    this.panel = panel;
    this.kernel = kernel;
  }

  readonly panel: NotebookPanel;
  readonly kernel: Kernel.IKernelConnection;

  get notebook(): string {
    return this.panel.context.path;
  }

  get standing(): Standing {
    return this._standing;
  }

  get questions(): readonly Waiting[] {
    return this._questions.map(one => ({ ...one, notebook: this.notebook }));
  }

  get revision(): string {
    return this._revision;
  }

  get running(): readonly Going[] {
    return this._running;
  }

  get acted(): number {
    return this._acted;
  }

  get visits(): number {
    return this._visits;
  }

  /** Its state is another. */
  get changed(): ISignal<this, undefined> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    window.clearTimeout(this._timer);
    Signal.clearData(this);
  }

  /** Ask the kernel. Rejects with one sentence for people. */
  async request(act: string, data: Record<string, unknown> = {}, patience = PATIENCE): Promise<unknown> {
    const content = await ask(this.kernel, REQUEST, { version: 1, kind: 'panel', data: { ...data, act } }, patience);
    if (content.status !== 'ok') {
      throw new Error(text(content.evalue) || 'The kernel did not answer what was asked.');
    }
    return content.data;
  }

  /** Hear what the kernel tells by a comm. */
  listen(comm: Kernel.IComm): void {
    comm.onMsg = (): void => {
      void this.refresh();
    };
  }

  /** Ask how things are; several at once are one more. */
  async refresh(): Promise<void> {
    if (this._asking) {
      this._again = true;
      return;
    }
    this._asking = true;
    try {
      do {
        this._again = false;
        this._take(record(await this.request('state', {}, STATE_PATIENCE)));
      } while (this._again as boolean);
    } catch {
      this._later(); // the kernel is gone, which is heard soon, or the way to it is broken for a while
    } finally {
      this._asking = false;
    }
  }

  private _later(): void {
    window.clearTimeout(this._timer);
    if (!this._isDisposed) {
      this._timer = window.setTimeout(() => {
        void this.refresh();
      }, AGAIN);
    }
  }

  private _take(said: Record<string, unknown>): void {
    if (this._isDisposed) {
      return;
    }
    const { connected, broken, waiting } = record(said.standing);
    this._standing = { connected: count(connected), broken: count(broken), waiting: count(waiting) };
    this._questions = list(said.questions)
      .map(record)
      .map(one => ({
        id: text(one.id),
        server: text(one.server),
        title: text(one.title),
        cell: text(one.cell),
        model: text(one.model)
      }));
    this._revision = text(said.revision);
    this._running = list(said.running).map(record).map(going);
    this._acted = count(said.acted);
    this._visits = count(said.visits);
    this._changed.emit(undefined);
  }

  private readonly _changed = new Signal<this, undefined>(this);
  private _standing: Standing = { connected: 0, broken: 0, waiting: 0 };
  private _questions: Omit<Waiting, 'notebook'>[] = [];
  private _revision = '';
  private _running: readonly Going[] = [];
  private _acted = 0;
  private _visits = 0;
  private _asking = false;
  private _again = false;
  private _isDisposed = false;
  private _timer = 0;
}

function going(said: Record<string, unknown>): Going {
  return {
    id: text(said.id),
    label: text(said.label),
    seconds: number(said.seconds),
    progress: number(said.progress),
    total: number(said.total),
    message: text(said.message),
    task: text(said.task)
  };
}

function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function count(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
