/**
 * The panel's section of prompts: pinned ones as buttons, all others as a list that can be searched, each with a pin.
 */

import { Widget } from '@lumino/widgets';

import '../../style/prompts.css';
import { fullName, label, type Prompt } from './prompts';

export interface PromptSectionOptions {
  /** Open the form of a prompt. */
  open: (prompt: Prompt) => void;
  /** Pin it, or take its pin away. */
  pin: (prompt: Prompt, pinned: boolean) => void;
}

/** So many lines are drawn; the search finds the others. */
const LINES = 200;

export class PromptSection extends Widget {
  constructor(options: PromptSectionOptions) {
    super();
    this._options = options;
    this.addClass('jmcp-prompts');
    this._pinned.className = 'jmcp-prompts-pinned';
    this._pinned.setAttribute('aria-label', 'Pinned prompts');
    this._pinned.setAttribute('role', 'group');
    this._search.type = 'search';
    this._search.className = 'jp-mod-styled';
    this._search.placeholder = 'Search prompts';
    this._search.setAttribute('aria-label', 'Search prompts');
    this._search.addEventListener('input', () => {
      this._drawList();
    });
    this._list.className = 'jmcp-prompts-list';
    this._note.className = 'jmcp-prompts-note';
    this._note.setAttribute('role', 'status');
    this.node.append(this._pinned, this._search, this._list, this._note);
    this.draw([], []);
  }

  /** Draw these. `pinned` are full names. */
  draw(prompts: readonly Prompt[], pinned: readonly string[]): void {
    this._prompts = prompts;
    this._pins = new Set(pinned);
    const chosen = prompts.filter(one => this._pins.has(fullName(one)));
    this._pinned.replaceChildren(...chosen.map(one => this._button(one, 'jmcp-prompts-button')));
    this._pinned.hidden = chosen.length === 0;
    this._search.hidden = prompts.length < 8;
    this._drawList();
  }

  private _drawList(): void {
    const words = this._search.hidden ? [] : this._search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this._prompts.filter(one => {
      const text = `${label(one)} ${one.description}`.toLowerCase();
      return words.every(word => text.includes(word));
    });
    this._list.replaceChildren(...found.slice(0, LINES).map(one => this._line(one)));
    const more = found.length - LINES;
    const none = this._prompts.length === 0 ? 'No connected server has prompts.' : 'No prompt is called so.';
    this._note.textContent = found.length === 0 ? none : more > 0 ? `${String(more)} more: search for them.` : '';
  }

  private _line(prompt: Prompt): HTMLElement {
    const line = document.createElement('li');
    const pin = document.createElement('button');
    const pinned = this._pins.has(fullName(prompt));
    pin.type = 'button';
    pin.className = 'jmcp-prompts-pin';
    pin.textContent = pinned ? '\u2605' : '\u2606';
    pin.title = pinned ? 'Take the pin away' : 'Pin: a button above, in every notebook';
    pin.setAttribute('aria-label', `Pin ${fullName(prompt)}`);
    pin.setAttribute('aria-pressed', String(pinned));
    pin.addEventListener('click', () => {
      this._options.pin(prompt, !pinned);
    });
    line.append(this._button(prompt, 'jmcp-prompts-open'), pin);
    return line;
  }

  private _button(prompt: Prompt, named: string): HTMLElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = named;
    button.textContent = prompt.title;
    button.title = [fullName(prompt), prompt.description].filter(Boolean).join('\n').slice(0, 400);
    button.setAttribute('aria-label', `Prompt ${label(prompt)}`);
    button.addEventListener('click', () => {
      this._options.open(prompt);
    });
    return button;
  }

  private readonly _options: PromptSectionOptions;
  private readonly _pinned = document.createElement('div');
  private readonly _search = document.createElement('input');
  private readonly _list = document.createElement('ul');
  private readonly _note = document.createElement('div');
  private _prompts: readonly Prompt[] = [];
  private _pins = new Set<string>();
}
