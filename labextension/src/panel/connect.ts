/**
 * Connecting one more server from the panel: one that a configuration file names, or a command or address that is typed.
 * The same can be written as a cell instead, so that the notebook says what it needs.
 */

import { sentenceOf, type Link } from '../commands/parts';
import { list, record, text } from '../said';
import { button, element } from './drawing';

/** A server that a configuration file names. */
interface Found {
  server: string;
  file: string;
  where: string;
  starts: string;
  asks: boolean;
}

export class ConnectForm {
  constructor(link: () => Link | null, insert: (link: Link, source: string) => void) {
    this._current = link;
    this._insert = insert;
    const summary = element('summary', '', 'Connect a server');
    this._said.className = 'jmcp-row-problem';
    this._said.setAttribute('role', 'status');
    this._found.className = 'jmcp-rows';
    const acts = element('div', 'jmcp-row-acts');
    acts.append(this._connect, this._write);
    const form = element('form', 'jmcp-connect-form');
    form.append(field('Name', this._name), field('Command or address', this._target), acts, this._said);
    form.addEventListener('submit', event => {
      event.preventDefault();
      void this._typed();
    });
    this._connect.type = 'submit';
    this.node.className = 'jmcp-connect';
    this.node.append(summary, this._found, form);
    this.node.addEventListener('toggle', () => {
      if (this.node.open) {
        void this._look();
      }
    });
  }

  readonly node = element('details');

  /** Another notebook is in front. */
  clear(): void {
    this.node.open = false;
    this._say('');
    this._found.replaceChildren();
  }

  /** The files name others once one has been connected. */
  private async _look(): Promise<void> {
    const said = await this._current()
      ?.request('servers_found')
      .catch(() => null);
    const found = list(record(said).found)
      .map(record)
      .map(one => ({
        server: text(one.server),
        file: text(one.file),
        where: text(one.where),
        starts: text(one.starts),
        asks: one.asks === true
      }));
    this._found.replaceChildren(...found.map(one => this._row(one)));
  }

  private _row(found: Found): HTMLElement {
    const row = element('li', 'jmcp-row');
    const title = element('div', 'jmcp-row-title');
    title.append(element('b', '', found.server), element('span', 'jmcp-row-state', found.where));
    const note = element('div', 'jmcp-row-note', found.starts);
    note.title = `${found.file}\n${found.starts}`;
    const acts = element('div', 'jmcp-row-acts');
    const connect = button(found.asks ? 'Connect …' : 'Connect', () => {
      void this._go(connect, { server: found.server, file: found.file });
    });
    connect.setAttribute('aria-label', `Connect ${found.server}`);
    connect.title = found.asks ? 'Its exact command is shown to you first' : '';
    acts.append(connect);
    row.append(title, note, acts);
    return row;
  }

  private async _typed(): Promise<void> {
    const [server, target] = [this._name.value.trim(), this._target.value.trim()];
    if (server === '' || target === '') {
      this._say('A name and a command, or an address, are needed.');
      (server === '' ? this._name : this._target).focus();
      return;
    }
    if (await this._go(this._connect, { server, target })) {
      this._name.value = this._target.value = '';
    }
  }

  private async _go(pressed: HTMLButtonElement, data: Record<string, unknown>): Promise<boolean> {
    const link = this._current();
    if (link === null) {
      return false;
    }
    pressed.disabled = true;
    this._say('Connecting …');
    try {
      const said = record(await link.request('server_connect', data));
      this._say(said.done === true ? '' : 'It is still being connected; a question may wait for you.');
      await this._look();
      return true;
    } catch (error) {
      this._say(sentenceOf(error));
      return false;
    } finally {
      pressed.disabled = false;
    }
  }

  private _asCell(): void {
    const link = this._current();
    const [server, target] = [this._name.value.trim(), this._target.value.trim()];
    if (link !== null && server !== '' && target !== '') {
      this._insert(link, `%mcp connect ${server} ${target}`);
      return;
    }
    this._say('A name and a command, or an address, are needed.');
  }

  private _say(sentence: string): void {
    this._said.textContent = sentence;
    this._said.hidden = sentence === '';
  }

  private readonly _current: () => Link | null;
  private readonly _insert: (link: Link, source: string) => void;
  private readonly _name = input('demo');
  private readonly _target = input('uvx mcp-server-time, or https://…');
  private readonly _connect = button('Connect', () => undefined);
  private readonly _write = button('Write as a cell', () => {
    this._asCell();
  });
  private readonly _found = element('ul');
  private readonly _said = element('div');
}

function input(example: string): HTMLInputElement {
  const made = element('input', 'jp-mod-styled');
  made.placeholder = example;
  made.autocomplete = 'off';
  made.spellcheck = false;
  return made;
}

function field(name: string, control: HTMLInputElement): HTMLElement {
  const label = element('label', 'jmcp-connect-field');
  label.append(element('span', '', name), control);
  return label;
}
