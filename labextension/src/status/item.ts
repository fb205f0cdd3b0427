/**
 * The status bar item: the servers of the notebook in front, and questions that wait. Pressing it opens the panel.
 */

import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import '../../style/status.css';
import type { Said } from './words';

export class StatusItem extends Widget {
  constructor(pressed: () => void) {
    super();
    this.addClass('jmcp-status-item');
    this._button.type = 'button';
    this._button.className = 'jmcp-status';
    this._button.addEventListener('click', pressed);
    this._spoken.setAttribute('role', 'status');
    this._spoken.className = 'jmcp-spoken';
    this.node.append(this._button, this._spoken);
    this.say({ text: '', title: '', urgent: false });
  }

  /** Whether there is something to say. JupyterLab shows and hides what is in its status bar by this. */
  get isActive(): boolean {
    return this._button.textContent !== '';
  }

  get activeChanged(): ISignal<this, void> {
    return this._activeChanged;
  }

  /** Show this. A question that waits is said to those who hear the page too. */
  say(said: Said): void {
    this._button.textContent = said.text;
    this.setHidden(!this.isActive);
    this._activeChanged.emit();
    this._button.title = said.title;
    this._button.dataset.urgent = String(said.urgent);
    const spoken = said.urgent ? said.title : '';
    if (this._spoken.textContent !== spoken) {
      this._spoken.textContent = spoken;
    }
  }

  private readonly _activeChanged = new Signal<this, void>(this);
  private readonly _button = document.createElement('button');
  private readonly _spoken = document.createElement('span');
}
