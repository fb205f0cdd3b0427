/**
 * The status bar item, and notices of questions that wait where nobody looks.
 */

import { Notification } from '@jupyterlab/apputils';

import type { Settings } from '../commands/settings';
import { showCell } from '../commands/cells';
import type { Link, Parts } from '../commands/parts';
import { StatusItem } from './item';
import { GRACE, noticeOf, Notices, type Waiting } from './notices';
import { statusOf } from './words';

export class StatusWiring {
  constructor(parts: Parts, settings: Settings) {
    this._parts = parts;
    const { links, statusBar } = parts;
    const item = new StatusItem(() => {
      links.openPanel();
    });
    statusBar?.registerStatusItem('jupyter-mcp-host:status', {
      item,
      align: 'left',
      rank: 30,
      isActive: () => item.isActive,
      activeStateChanged: item.activeChanged
    });
    const notices = new Notices({
      inSight: (question): boolean => !settings.notifies || this._inSight(question),
      say: (question): (() => void) => this._say(question),
      now: (): number => performance.now()
    });
    const known = new Set<string>();
    let looking = 0;
    const look = (): void => {
      const open = new Map(links.all.map(one => [one.notebook, one.questions]));
      for (const notebook of new Set([...known, ...open.keys()])) {
        known.add(notebook);
        notices.update(notebook, open.get(notebook) ?? []);
      }
      window.clearTimeout(looking);
      looking = notices.waiting ? window.setTimeout(look, GRACE / 2) : 0;
    };
    const update = (): void => {
      const here = links.current;
      const elsewhere = links.all.filter(one => one !== here).reduce((sum, one) => sum + one.standing.waiting, 0);
      item.say(statusOf(here?.standing ?? null, elsewhere));
      look();
    };
    links.changed.connect(update);
    update();
  }

  /** Whether the question's card, in its cell or in the panel, is on the part of the page that is seen. */
  private _inSight(question: Waiting): boolean {
    const link = this._link(question);
    if (document.hidden || link?.panel.isVisible !== true) {
      return false;
    }
    return this._cards(question, link).some(isSeen);
  }

  /** Its cards on the page: in its cell, and in the panel. */
  private _cards(question: Waiting, link: Link): Element[] {
    const cards = [...document.querySelectorAll(`.jmcp-asks-${CSS.escape(question.id)}`)];
    return cards.filter(card => {
      const notebook = card.closest('.jp-NotebookPanel'); // a kernel's questions have its own numbers
      return notebook === null ? link === this._parts.links.current : notebook === link.panel.node;
    });
  }

  /** Show the question that waits longest: its notebook, and the panel. */
  show(question = this._parts.links.all.flatMap(one => one.questions)[0]): void {
    const link = question === undefined ? undefined : this._link(question);
    if (question === undefined || link === undefined) {
      return;
    }
    this._parts.app.shell.activateById(link.panel.id);
    this._parts.links.openPanel();
    showCell(link.panel, question.cell);
    const [card] = this._cards(question, link).filter(one => link.panel.node.contains(one));
    card?.scrollIntoView({ block: 'center' });
  }

  private _say(question: Waiting): () => void {
    const show = (): void => {
      this.show(question);
    };
    const id = Notification.emit(noticeOf(question), 'warning', {
      autoClose: false,
      actions: [{ label: 'Show the question', callback: show, displayType: 'accent' }]
    });
    return () => {
      Notification.dismiss(id);
    };
  }

  private _link(question: Waiting): Link | undefined {
    return this._parts.links.all.find(one => one.notebook === question.notebook);
  }

  private readonly _parts: Parts;
}

/** Whether a part of an element is in its window, and not covered by what scrolls. */
export function isSeen(element: Element): boolean {
  const { left, top, width, height } = element.getBoundingClientRect();
  const x = left + Math.min(width / 2, 40);
  const y = top + Math.min(height / 2, 20);
  const there = width > 0 && height > 0 && x >= 0 && y >= 0 && x < window.innerWidth && y < window.innerHeight;
  const found = there ? document.elementFromPoint(x, y) : null;
  return found !== null && (element.contains(found) || found.contains(element));
}
