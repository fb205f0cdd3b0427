/**
 * The panel's section of the notebook as a server: the switch, what others may see of it, who came and what they read.
 * The address and the token are not here: they are on the card of `%mcp serve`, which can be written as a cell.
 */

import { Widget } from '@lumino/widgets';

import '../../style/serving.css';
import { sentenceOf, type Link, type Links } from '../commands/parts';
import { record, text } from '../said';
import { follow } from './following';
import { button, element } from './drawing';
import { ago, exposed, readServed, type Served } from './served';
import { inTurn } from './turns';

const OFF =
  'Off. Switched on, MCP clients of yours on this machine may read its public variables and plots, and call its ' +
  'functions; never modules, secrets and what begins with _. They run no code.';
const COPY = 'Copy the line for an agent';
const OFF_AGAIN = 'Off. Switched on, it is served as it was before, for reading.';

export class ServingSection extends Widget {
  constructor(links: Links, insert: (link: Link, source: string) => void) {
    super();
    this._links = links;
    this._insert = insert;
    this.addClass('jmcp-serving');
    this._switch.type = 'checkbox';
    this._switch.setAttribute('role', 'switch');
    this._switch.addEventListener('change', () => {
      void this._turn();
    });
    const label = element('label', 'jmcp-serving-switch');
    label.append(this._switch, element('span', '', 'Serve this notebook'));
    this._said.className = 'jmcp-row-note';
    this._problem.className = 'jmcp-row-problem';
    this._problem.setAttribute('role', 'alert');
    const acts = element('div', 'jmcp-row-acts');
    acts.append(this._copy, this._write);
    this._terms.className = 'jmcp-serving-terms';
    this._clients.className = 'jmcp-rows jmcp-serving-clients';
    this._clients.setAttribute('aria-label', 'Clients');
    this._acts.className = 'jmcp-serving-acts';
    this._acts.tabIndex = 0; // it scrolls
    this._acts.setAttribute('aria-label', 'What clients did');
    this.node.append(label, this._said, this._problem, acts, this._terms, this._clients, this._acts);
    this._write.title = 'In a cell it shows the card with address and token, and takes options';
    this._draw(null);
    follow(this, links.changed, () => {
      this._follow();
    });
  }

  private _follow(): void {
    const link = this._links.current;
    if (link !== this._link) {
      this._link = link;
      this._visits = null;
      this._complain('');
      this._draw(null);
    }
    if (link !== null && link.visits !== this._visits) {
      this._visits = link.visits;
      this._look();
    }
  }

  private async _ask(): Promise<void> {
    const link = this._link;
    const said = await link?.request('serving').then(readServed, () => null);
    if (said != null && link === this._link && !this._switch.disabled) {
      this._draw(said);
    }
  }

  /** The switch was pressed. */
  private async _turn(): Promise<void> {
    const link = this._link;
    if (link === null) {
      return;
    }
    this._switch.disabled = true;
    this._complain('');
    try {
      const said = await link.request(this._switch.checked ? 'serve_start' : 'serve_stop');
      if (link === this._link) {
        this._draw(readServed(said));
      }
    } catch (error) {
      if (link === this._link) {
        this._complain(sentenceOf(error));
      }
    } finally {
      this._switch.disabled = false;
      this._look(); // what came meanwhile was not drawn
    }
  }

  private _draw(served: Served | null): void {
    const on = served?.served === true;
    this._switch.checked = on;
    this.setHidden(this._link === null);
    this._said.textContent = on
      ? `${served.name} is served, ${served.allowCode ? 'for reading, and for code that you allow' : 'for reading only'}.`
      : served?.again === true
        ? OFF_AGAIN
        : OFF;
    this._command = on ? served.command : '';
    this._copy.hidden = this._command === '';
    this._drawTerms(on ? exposed(served) : []);
    this._drawClients(on ? served : null);
  }

  private _drawTerms(rows: readonly (readonly [string, string])[]): void {
    this._terms.hidden = rows.length === 0;
    this._terms.replaceChildren(...rows.flatMap(([term, said]) => [element('dt', '', term), element('dd', '', said)]));
  }

  private _drawClients(served: Served | null): void {
    const now = Date.now() / 1000;
    const rows = (served?.clients ?? []).map(one => {
      const row = element('li', 'jmcp-row');
      const title = element('div', 'jmcp-row-title');
      title.append(element('b', '', one.name), element('span', 'jmcp-row-state', one.version));
      const asked = `${one.requests.toLocaleString('en')} request${one.requests === 1 ? '' : 's'}`;
      row.append(title, element('div', 'jmcp-row-note', `${asked}, the last ${ago(now - one.last)}`));
      return row;
    });
    if (served !== null && rows.length === 0) {
      rows.push(element('li', 'jmcp-row jmcp-row-note', 'Nobody has connected yet.'));
    }
    this._clients.replaceChildren(...rows);
    const acts = (served?.acts ?? []).map(one =>
      element('li', '', [`${one.client}: ${one.what}`, one.outcome].filter(Boolean).join(' – '))
    );
    this._acts.hidden = acts.length === 0;
    this._acts.replaceChildren(...acts);
  }

  private async _copied(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this._command);
      this._copy.textContent = 'Copied';
      window.setTimeout(() => {
        this._copy.textContent = COPY;
      }, 2000);
    } catch {
      this._complain('The browser does not let this page write to the clipboard. The card in a cell shows the line.');
    }
  }

  private async _asCell(): Promise<void> {
    const link = this._link;
    try {
      const source = text(record(await link?.request('serve_cell')).source);
      if (link !== null && source !== '') {
        this._insert(link, source);
      }
    } catch (error) {
      this._complain(sentenceOf(error));
    }
  }

  private _complain(sentence: string): void {
    this._problem.textContent = sentence;
    this._problem.hidden = sentence === '';
  }

  private readonly _links: Links;
  private readonly _insert: (link: Link, source: string) => void;
  private readonly _look = inTurn(() => this._ask());
  private readonly _switch = element('input');
  private readonly _said = element('div');
  private readonly _problem = element('div');
  private readonly _copy = button(COPY, () => void this._copied());
  private readonly _write = button('Write as a cell', () => void this._asCell());
  private readonly _terms = element('dl');
  private readonly _clients = element('ul');
  private readonly _acts = element('ul');
  private _link: Link | null = null;
  private _visits: number | null = null;
  private _command = '';
}
