/**
 * The panel's section of what was done: the last acts of the notebook in front, by whom, how they ended. It is asked for
 * only while somebody looks.
 */

import { Widget } from '@lumino/widgets';

import '../../style/activity.css';
import type { Link, Links } from '../commands/parts';
import { list, record, text } from '../said';
import { element } from './drawing';
import { follow } from './following';

/** Outcomes that need nobody's attention. */
const GOOD = new Set(['ok', 'accept', 'running', 'cancelled']);

export class ActivitySection extends Widget {
  constructor(links: Links) {
    super();
    this._links = links;
    this.addClass('jmcp-activity');
    this._none.className = 'jmcp-empty';
    this._list.className = 'jmcp-rows';
    this.node.append(this._none, this._list);
    this._watcher.observe(this.node);
    this.disposed.connect(() => {
      this._watcher.disconnect();
    });
    follow(this, links.changed, () => {
      void this._update();
    });
  }

  private async _update(): Promise<void> {
    const link = this._links.current;
    if (link !== this._link) {
      this._link = link;
      this._acted = -1;
      this._list.replaceChildren();
      this._none.textContent = 'Nothing has been done yet.';
      this._none.hidden = false;
    }
    if (link === null || !this._seen || link.acted === this._acted) {
      return;
    }
    this._acted = link.acted;
    const said = await link.request('activity').catch(() => null);
    if (said !== null && link === this._links.current) {
      const acts = list(record(said).acts).map(record);
      this._list.replaceChildren(...acts.map(row));
      this._none.hidden = acts.length > 0;
    }
  }

  private readonly _links: Links;
  private readonly _none = element('p');
  private readonly _list = element('ul');
  private readonly _watcher = new IntersectionObserver(entries => {
    this._seen = entries.some(one => one.isIntersecting);
    void this._update();
  });
  private _seen = false;
  private _link: Link | null = null;
  private _acted = -1;
}

/** One act. What was said of it is unfolded. */
function row(act: Record<string, unknown>): HTMLElement {
  const node = element('li', 'jmcp-row');
  const outcome = text(act.outcome);
  const title = element('div', 'jmcp-row-title');
  const ended = element('span', 'jmcp-activity-outcome', outcome);
  ended.dataset.good = String(GOOD.has(outcome));
  title.append(element('span', 'jmcp-activity-label', text(act.label)), ended);
  title.title = text(act.method);
  const when = typeof act.time === 'number' ? new Date(act.time * 1000).toLocaleTimeString() : '';
  const took = typeof act.seconds === 'number' ? `${act.seconds.toFixed(act.seconds < 10 ? 2 : 0)} s` : '';
  node.append(title, element('div', 'jmcp-row-note', [when, `by ${text(act.by)}`, took].filter(Boolean).join(' · ')));
  const said = text(act.said);
  if (said !== '') {
    const more = element('details');
    more.append(element('summary', 'jmcp-row-note', said.split('\n')[0]), element('pre', 'jmcp-activity-said', said));
    node.append(more);
  }
  return node;
}
