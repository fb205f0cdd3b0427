/**
 * The argument form of one prompt.
 *
 * The page draws it itself, and what it asks goes by the kernel's control channel: it can be filled in while a cell runs.
 * A suggestion that comes late, or fails, is dropped: nothing waits for one.
 */

import { Widget } from '@lumino/widgets';

import { list, record, text } from '../said';
import { fullName, type Argument, type Prompt } from './prompts';

/** How long somebody has to stop typing before the server is asked for suggestions, in milliseconds. */
export const PAUSE = 250;

export interface FormOptions {
  prompt: Prompt;
  /** What is filled in at first, by name. */
  given?: Readonly<Record<string, string>>;
  request: (act: string, data?: Record<string, unknown>) => Promise<unknown>;
}

type Control = HTMLInputElement | HTMLTextAreaElement;

let made = 0;

/** Selects what has the keyboard first: where something is still to be filled in. */
export const FIRST = '.jmcp-prompt-first';

export class PromptForm extends Widget {
  constructor(options: FormOptions) {
    super();
    this._prompt = options.prompt;
    this._request = options.request;
    this._id = `jmcp-prompt-${String((made += 1))}`;
    this.addClass('jmcp-prompt');
    if (this._prompt.description !== '') {
      this.node.append(element('p', 'jmcp-prompt-told', this._prompt.description));
    }
    this.node.append(element('code', 'jmcp-prompt-name', fullName(this._prompt)));
    for (const argument of this._prompt.arguments) {
      this._add(argument, options.given?.[argument.name] ?? '');
    }
    const first = this._controls.get(this.needed[0] ?? '') ?? [...this._controls.values()][0];
    (first ?? this._look).classList.add('jmcp-prompt-first');
    this.node.append(this._status, this._look, this._messages);
    this._wireLook();
  }

  /** What is filled in; what is empty is left out. */
  get values(): Record<string, string> {
    const filled = [...this._controls].map(([name, control]) => [name, control.value] as const);
    return Object.fromEntries(filled.filter(([, value]) => value !== ''));
  }

  /** Required arguments that are empty. */
  get needed(): string[] {
    const empty = this._prompt.arguments.filter(one => one.required && this._controls.get(one.name)?.value === '');
    return empty.map(one => one.name);
  }

  /** Say which are still needed, and go to the first. Returns whether any is. */
  report(): boolean {
    const needed = this.needed;
    for (const [name, control] of this._controls) {
      control.setAttribute('aria-invalid', String(needed.includes(name)));
    }
    this._status.textContent = needed.length === 0 ? '' : `Still needed: ${needed.join(', ')}`;
    this._controls.get(needed[0] ?? '')?.focus();
    return needed.length > 0;
  }

  override dispose(): void {
    window.clearTimeout(this._timer);
    super.dispose();
  }

  private _add(argument: Argument, given: string): void {
    const id = `${this._id}-${String(this._controls.size)}`;
    const control: Control = given.includes('\n')
      ? document.createElement('textarea')
      : document.createElement('input');
    control.id = id;
    control.value = given;
    control.required = argument.required;
    control.classList.add('jp-mod-styled');
    const label = element('label', 'jmcp-prompt-label', argument.title === '' ? argument.name : argument.title);
    label.htmlFor = id;
    if (argument.required) {
      label.append(element('span', 'jmcp-prompt-required', ' (required)'));
    }
    this.node.append(label);
    if (argument.description !== '') {
      const help = element('div', 'jmcp-prompt-help', argument.description);
      help.id = `${id}-help`;
      control.setAttribute('aria-describedby', help.id);
      this.node.append(help);
    }
    this.node.append(control);
    this._controls.set(argument.name, control);
    if (control instanceof HTMLInputElement) {
      this._suggestFor(argument.name, control);
    } else {
      control.rows = Math.min(10, given.split('\n').length + 1);
    }
  }

  private _suggestFor(name: string, control: HTMLInputElement): void {
    const suggestions = document.createElement('datalist');
    suggestions.id = `${control.id}-list`;
    control.setAttribute('list', suggestions.id);
    control.autocomplete = 'off';
    this.node.append(suggestions);
    const later = (): void => {
      window.clearTimeout(this._timer);
      this._timer = window.setTimeout(() => void this._suggest(name, control, suggestions), PAUSE);
    };
    control.addEventListener('input', later);
    control.addEventListener('focus', later);
  }

  private async _suggest(name: string, control: HTMLInputElement, suggestions: HTMLDataListElement): Promise<void> {
    const { server, name: prompt } = this._prompt;
    const others = Object.fromEntries(Object.entries(this.values).filter(([other]) => other !== name));
    const value = control.value;
    const asked = { server, prompt, argument: name, value, others };
    const said = await this._request('prompt_complete', asked).catch(() => null);
    if (this.isDisposed || control.value !== value) {
      return;
    }
    const found = list(record(said).values).filter(one => typeof one === 'string');
    const options = found.map(one => new Option(one, one));
    suggestions.replaceChildren(...options);
  }

  private _wireLook(): void {
    this._status.setAttribute('role', 'status');
    this._look.type = 'button';
    this._look.classList.add('jp-mod-styled', 'jmcp-prompt-look');
    this._look.textContent = 'See its messages';
    this._messages.setAttribute('aria-live', 'polite');
    this._messages.className = 'jmcp-prompt-messages';
    this._look.addEventListener('click', () => void this._show());
  }

  private async _show(): Promise<void> {
    if (this.report()) {
      return;
    }
    const { server, name: prompt } = this._prompt;
    this._look.disabled = true;
    this._status.textContent = `Asking ${server}\u2026`;
    try {
      const said = await this._request('prompt_messages', { server, prompt, arguments: this.values });
      this._messages.replaceChildren(...list(record(said).messages).map(message));
      this._status.textContent = '';
    } catch (error) {
      this._messages.replaceChildren();
      this._status.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      this._look.disabled = false;
    }
  }

  private readonly _prompt: Prompt;
  private readonly _request: FormOptions['request'];
  private readonly _id: string;
  private readonly _controls = new Map<string, Control>();
  private readonly _status = element('div', 'jmcp-prompt-status', '');
  private readonly _look = document.createElement('button');
  private readonly _messages = element('div', '', '');
  private _timer = 0;
}

function message(said: unknown): HTMLElement {
  const { role, text: words } = record(said);
  const whole = element('div', 'jmcp-prompt-message', '');
  whole.append(element('b', '', text(role)), element('pre', '', text(words)));
  return whole;
}

/** An element with a text, which may come from a server: it is never markup. */
function element<K extends keyof HTMLElementTagNameMap>(
  kind: K,
  named: string,
  words: string
): HTMLElementTagNameMap[K] {
  const found = document.createElement(kind);
  found.className = named;
  found.textContent = words;
  return found;
}
