/**
 * The status bar item: the servers of the notebook in front, and questions that wait. Pressing it opens the panel.
 */

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

  /** Show this. A question that waits is said to those who hear the page too. */
  say(said: Said): void {
    this.setHidden(said.text === '');
    this._button.textContent = said.text;
    this._button.title = said.title;
    this._button.dataset.urgent = String(said.urgent);
    const spoken = said.urgent ? said.title : '';
    if (this._spoken.textContent !== spoken) {
      this._spoken.textContent = spoken;
    }
  }

  private readonly _button = document.createElement('button');
  private readonly _spoken = document.createElement('span');
}
