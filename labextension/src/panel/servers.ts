/**
 * The panel's section of servers: how each is, what is wrong with it, its log, and the way to connect another.
 *
 * A row stays the same element as long as its server does, so that neither an open log nor the focus is lost.
 */

import { Widget } from '@lumino/widgets';

import '../../style/servers.css';
import { sentenceOf, type Link, type Links } from '../commands/parts';
import { list, record, text } from '../said';
import { ConnectForm } from './connect';
import { button, element } from './drawing';
import { follow } from './following';
import { Rows } from './rows';

/** A server, as its kernel tells of it. */
export interface Server {
  name: string;
  state: string;
  said: string;
  target: string;
  problem: string;
  notes: readonly string[];
}

/** What a kernel said, read without trust. */
export function readServers(value: unknown): Server[] {
  return list(record(value).servers)
    .map(record)
    .map(one => ({
      name: text(one.name),
      state: text(one.state),
      said: text(one.said),
      target: text(one.target),
      problem: text(one.problem),
      notes: list(one.notes).map(text)
    }));
}

export class ServerSection extends Widget {
  constructor(links: Links, insert: (link: Link, source: string) => void) {
    super();
    this.addClass('jmcp-servers');
    this._links = links;
    this._form = new ConnectForm(() => this._links.current, insert);
    this._none.className = 'jmcp-empty';
    this._list.className = 'jmcp-rows';
    this.node.append(this._none, this._list, this._form.node);
    follow(this, links.changed, () => {
      void this._update();
    });
  }

  private async _update(): Promise<void> {
    const link = this._links.current;
    if (link !== this._link) {
      this._link = link;
      this._revision = null;
      this._rows.clear();
      this._form.clear();
    }
    if (link === null) {
      this._say('No notebook in front has loaded the extension: %load_ext jupyter_mcp');
      return;
    }
    if (link.revision === this._revision) {
      return;
    }
    const revision = link.revision;
    const servers = await link.request('servers').then(readServers, () => null);
    if (servers !== null && link === this._links.current) {
      this._revision = revision;
      this._rows.draw(servers, one => new Row(link, one.name));
      this._say(servers.length === 0 ? 'This notebook is connected to no server yet.' : '');
    }
  }

  private _say(sentence: string): void {
    this._none.textContent = sentence;
    this._none.hidden = sentence === '';
    this._form.node.hidden = this._link === null;
  }

  private readonly _links: Links;
  private readonly _form: ConnectForm;
  private readonly _none = element('p');
  private readonly _list = element('ul');
  private readonly _rows = new Rows<Server, Row>(this._list, one => one.name);
  private _link: Link | null = null;
  private _revision: string | null = null;
}

/** One server. */
class Row {
  constructor(link: Link, name: string) {
    this._link = link;
    this._name = name;
    this._log.className = 'jmcp-servers-log';
    this._log.tabIndex = 0;
    this._log.setAttribute('aria-label', `Log of ${name}`);
    this._log.hidden = true;
    this._logged.setAttribute('aria-expanded', 'false');
    this._problem.className = 'jmcp-row-problem';
    this._problem.setAttribute('role', 'status');
    this._note.className = 'jmcp-row-note';
    const title = element('div', 'jmcp-row-title');
    title.append(this._mark, element('b', '', name), this._state);
    const acts = element('div', 'jmcp-row-acts');
    acts.append(this._again, this._stop, this._logged);
    this.node.className = 'jmcp-row';
    this.node.setAttribute('aria-label', name);
    this.node.append(title, this._note, this._problem, acts, this._log);
  }

  readonly node = element('li');

  draw(server: Server): void {
    this._mark.className = 'jmcp-mark';
    this._mark.dataset.state = server.state;
    this._state.textContent = server.state;
    this._note.textContent = server.said || server.target;
    this._note.title = [server.target, ...server.notes].filter(Boolean).join('\n');
    if (!this._busy) {
      this._complain(server.problem);
    }
    this._again.textContent = server.state === 'ready' ? 'Reconnect' : 'Connect';
    this._again.setAttribute('aria-label', `${this._again.textContent} ${this._name}`);
    if (!this._log.hidden) {
      void this._read();
    }
  }

  private _complain(sentence: string): void {
    this._problem.textContent = sentence;
    this._problem.hidden = sentence === '';
  }

  /** Do something that takes its time; the other buttons wait. */
  private async _act(act: string): Promise<void> {
    this._lock(true);
    this._complain('');
    try {
      await this._link.request(act, { server: this._name });
    } catch (error) {
      this._complain(sentenceOf(error));
    } finally {
      this._lock(false);
    }
  }

  private _lock(busy: boolean): void {
    this._busy = busy;
    this.node.setAttribute('aria-busy', String(busy));
    this._again.disabled = this._stop.disabled = busy;
  }

  private async _toggle(): Promise<void> {
    this._log.hidden = !this._log.hidden;
    this._logged.setAttribute('aria-expanded', String(!this._log.hidden));
    if (!this._log.hidden) {
      await this._read();
    }
  }

  private async _read(): Promise<void> {
    const said = record(
      await this._link.request('server_log', { server: this._name }).catch((error: unknown) => ({
        lines: [{ level: 'error', text: sentenceOf(error) }]
      }))
    );
    const lines = list(said.lines).map(record);
    const atEnd = this._log.scrollTop + this._log.clientHeight >= this._log.scrollHeight - 4;
    this._log.replaceChildren(
      ...lines.map(one => {
        const line = element('div', '', text(one.text));
        line.dataset.level = text(one.level);
        return line;
      })
    );
    if (lines.length === 0) {
      this._log.textContent = 'Nothing logged.';
    }
    if (atEnd) {
      this._log.scrollTop = this._log.scrollHeight;
    }
  }

  private readonly _link: Link;
  private readonly _name: string;
  private readonly _mark = element('span');
  private readonly _state = element('span', 'jmcp-row-state');
  private readonly _note = element('div');
  private readonly _problem = element('div');
  private readonly _again = button('Reconnect', () => void this._act('server_reconnect'));
  private readonly _stop = button('Stop', () => void this._act('server_stop'));
  private readonly _logged = button('Log', () => void this._toggle());
  private readonly _log = element('div');
  private _busy = false;
}
