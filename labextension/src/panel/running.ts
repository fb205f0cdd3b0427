/**
 * The panel's section of what goes on: calls and tasks of the notebook in front, how far they are, and Cancel.
 */

import { Widget } from '@lumino/widgets';

import '../../style/running.css';
import { say, sentenceOf, type Going, type Link, type Links } from '../commands/parts';
import { button, element } from './drawing';
import { follow } from './following';
import { Rows } from './rows';

/** Hides itself while nothing goes on, and the section with it. */
export class RunningSection extends Widget {
  constructor(links: Links) {
    super();
    this._links = links;
    this.addClass('jmcp-running');
    this._list.className = 'jmcp-rows';
    this.node.append(this._list);
    const timer = window.setInterval(() => {
      this._rows.shown.forEach(row => {
        row.tick();
      });
    }, 1000);
    this.disposed.connect(() => {
      window.clearInterval(timer);
    });
    follow(this, links.changed, () => {
      this._draw();
    });
  }

  private _draw(): void {
    const link = this._links.current;
    if (link !== this._link) {
      this._link = link;
      this._rows.clear();
    }
    const going = link?.running ?? [];
    if (link !== null) {
      this._rows.draw(going, one => new Row(link, one));
    }
    this.setHidden(going.length === 0);
  }

  private readonly _links: Links;
  private readonly _list = element('ul');
  private readonly _rows = new Rows<Going, Row>(this._list, one => one.id);
  private _link: Link | null = null;
}

/** One call or task. */
class Row {
  constructor(link: Link, going: Going) {
    this._began = going.seconds === null ? null : performance.now() - 1000 * going.seconds;
    this._cancel = button('Cancel', () => {
      this._cancel.disabled = true;
      link.request('cancel', { id: going.id }).catch((error: unknown) => {
        this._cancel.disabled = false;
        say(sentenceOf(error));
      });
    });
    this._cancel.setAttribute('aria-label', `Cancel ${going.label}`);
    this._bar.setAttribute('aria-label', `Progress of ${going.label}`);
    const title = element('div', 'jmcp-row-title');
    title.append(element('b', '', going.label), this._time);
    const acts = element('div', 'jmcp-row-acts');
    acts.append(this._cancel);
    this.node.setAttribute('aria-label', going.label);
    this.node.append(title, this._bar, this._note, acts);
  }

  readonly node = element('li', 'jmcp-row');

  draw(going: Going): void {
    const { progress, total } = going;
    this._bar.hidden = progress === null;
    if (progress !== null && total !== null && total > 0) {
      this._bar.max = total;
      this._bar.value = Math.min(progress, total);
    } else {
      this._bar.removeAttribute('value'); // it goes on, nobody knows how far
    }
    this._note.textContent = [going.task, farOf(progress, total), going.message].filter(Boolean).join(' · ');
    this.tick();
  }

  tick(): void {
    this._time.textContent = this._began === null ? '' : lasting((performance.now() - this._began) / 1000);
  }

  private readonly _time = element('span', 'jmcp-row-state');
  private readonly _note = element('div', 'jmcp-row-note');
  private readonly _bar = element('progress', 'jmcp-running-bar');
  private readonly _cancel: HTMLButtonElement;
  private readonly _began: number | null;
}

/** "3 of 10", "3", or nothing. */
export function farOf(progress: number | null, total: number | null): string {
  if (progress === null) {
    return '';
  }
  const shown = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 });
  return total !== null && total > 0 ? `${shown(Math.min(progress, total))} of ${shown(total)}` : shown(progress);
}

/** How long, in words: "5 s", "2 min 5 s", "1 h 3 min". */
export function lasting(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) {
    return `${String(hours)} h ${String(minutes)} min`;
  }
  return minutes > 0 ? `${String(minutes)} min ${String(whole % 60)} s` : `${String(whole)} s`;
}
