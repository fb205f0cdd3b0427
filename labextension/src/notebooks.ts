/**
 * Every notebook of the page learns to draw cards, and its cards learn when its kernel goes.
 */

import type { ISessionContext } from '@jupyterlab/apputils';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';

import { CardRenderer } from './card';
import { CARD, RANK } from './mime';

/** What a kernel's status says when nothing that it knew is left. */
const GONE = new Set(['restarting', 'autorestarting', 'terminating', 'dead']);

export class CardsInNotebooks implements DocumentRegistry.IWidgetExtension<NotebookPanel, INotebookModel> {
  createNew(panel: NotebookPanel): IDisposable {
    return new NotebookCards(panel);
  }
}

/** The cards of one notebook. */
export class NotebookCards implements IDisposable {
  constructor(panel: NotebookPanel) {
    const rendermime = panel.content.rendermime;
    rendermime.addFactory(
      {
        safe: false, // a notebook that is not trusted shows the output's HTML instead, cleaned
        mimeTypes: [CARD],
        createRenderer: (): CardRenderer =>
          this._add(
            new CardRenderer({
              createRenderer: kind => rendermime.createRenderer(kind),
              getFactory: kind => rendermime.getFactory(kind)
            })
          )
      },
      RANK
    );
    this._session = panel.sessionContext;
    this._session.statusChanged.connect(this._statusChanged, this);
    this._session.kernelChanged.connect(this._kernelChanged, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._session.statusChanged.disconnect(this._statusChanged, this);
    this._session.kernelChanged.disconnect(this._kernelChanged, this);
    this._cards.clear();
  }

  private _add(card: CardRenderer): CardRenderer {
    this._cards.add(card);
    card.disposed.connect(() => this._cards.delete(card));
    return card;
  }

  private _statusChanged(_: ISessionContext, status: string): void {
    if (GONE.has(status)) {
      this._expire();
    }
  }

  private _kernelChanged(_: ISessionContext, change: KernelChange): void {
    if (change.oldValue != null && change.oldValue.id !== change.newValue?.id) {
      this._expire();
    }
    for (const card of this._cards) {
      void card.retry();
    }
  }

  private _expire(): void {
    for (const card of this._cards) {
      void card.expire();
    }
  }

  private readonly _session: ISessionContext;
  private readonly _cards = new Set<CardRenderer>();
  private _isDisposed = false;
}

interface KernelChange {
  oldValue: { id: string } | null;
  newValue: { id: string } | null;
}
