/**
 * The panel's section of all that servers offer: searched in the kernel, a row for each of the first that fit. A row is
 * dragged into the notebook, or its button writes the call below the active cell. Nothing is called.
 *
 * Rows are as many as are looked at, so that a page with thousands of tools stays quick. What is typed while an answer
 * is on its way is asked when that has come: the last words are always answered.
 */

import { Widget } from '@lumino/widgets';

import '../../style/catalogue.css';
import { sentenceOf, type Link, type Links } from '../commands/parts';
import { follow } from './following';
import { draggable } from './dragging';
import { button, element } from './drawing';
import { NOTHING, readOffers, tally, type Badge, type Offer, type Offers } from './offers';
import { inTurn } from './turns';

/** The kind of what is dragged: a `Carried`. */
export const CALL = 'application/x-jupyter-mcp-call';

/** Rows at first, and with each press of "Show more". The kernel gives a thousand at most. */
const [ROWS, MORE] = [50, 100];

const KINDS: readonly (readonly [string, string])[] = [
  ['', 'Everything'],
  ['tool', 'Tools'],
  ['resource', 'Resources'],
  ['template', 'Templates'],
  ['prompt', 'Prompts']
];
const VERBS: Record<string, string> = { tool: 'call', prompt: 'prompt', resource: 'read', template: 'read' };

/** What a drag carries. */
export interface Carried {
  link: Link;
  offer: Offer;
}

export interface CatalogueOptions {
  links: Links;
  /** Write the call of an offer below the active cell. */
  insert: (link: Link, offer: Offer) => void;
}

export class CatalogueSection extends Widget {
  constructor(options: CatalogueOptions) {
    super();
    this._options = options;
    this.addClass('jmcp-catalogue');
    this._rows.className = 'jmcp-rows';
    this._rows.setAttribute('aria-label', 'What servers offer');
    this._note.className = 'jmcp-empty';
    this._note.setAttribute('role', 'status');
    this._controls();
    this.node.append(this._bar, this._note, this._rows, this._more);
    this._draw(NOTHING);
    follow(this, options.links.changed, () => {
      this._follow();
    });
  }

  private _controls(): void {
    this._bar.className = 'jmcp-catalogue-bar';
    this._words.type = 'search';
    this._words.className = 'jp-mod-styled';
    this._words.placeholder = 'Search';
    this._words.setAttribute('aria-label', 'Search what servers offer');
    this._words.addEventListener('input', () => {
      this._begin();
    });
    this._kind.className = 'jp-mod-styled';
    this._kind.setAttribute('aria-label', 'Kind');
    this._kind.append(...KINDS.map(([value, name]) => new Option(name, value)));
    this._kind.addEventListener('change', () => {
      this._begin();
    });
    this._bar.append(this._words, this._kind);
  }

  /** The notebook in front, or what its servers offer, may be another. */
  private _follow(): void {
    const link = this._options.links.current;
    if (link !== this._link) {
      this._link = link;
      this._revision = null;
      this._limit = ROWS;
      this._draw(NOTHING);
    }
    if (link !== null && link.revision !== this._revision) {
      this._revision = link.revision;
      this._ask();
      this._look();
    }
  }

  /** Other words: from the top. */
  private _begin(): void {
    this._limit = ROWS;
    this._ask();
  }

  private async _search(): Promise<void> {
    const link = this._link;
    const data = { words: this._words.value, kind: this._kind.value, limit: this._limit };
    try {
      const said = readOffers(await link?.request('catalogue', data));
      if (link === this._link) {
        this._draw(said, data.limit);
      }
    } catch (error) {
      if (link === this._link) {
        this._note.textContent = sentenceOf(error);
      }
    }
  }

  /** Have lists read that were never read, which may take a slow server some seconds. */
  private async _read(): Promise<void> {
    await this._link?.request('catalogue', { limit: 0, look: true }).catch(() => null); // a search says what is wrong
    this._ask();
  }

  private _draw(offers: Offers, limit = 0): void {
    const none = offers.total === 0;
    this.setHidden(this._link === null);
    this._bar.hidden = none;
    this._note.textContent = none
      ? offers.servers === 0
        ? 'What connected servers offer can be searched here.'
        : 'The connected servers offer nothing.'
      : offers.found === 0
        ? 'Nothing is called so.'
        : tally(offers);
    const shown = JSON.stringify(offers.items);
    if (shown !== this._shown) {
      this._shown = shown;
      this._drawRows(offers.items);
    }
    const left = offers.found - offers.items.length;
    this._more.hidden = left <= 0 || offers.items.length < limit;
    this._more.textContent = `Show more (${left.toLocaleString('en')} left)`;
  }

  /** Draw these; the focus stays with the offer that has it. */
  private _drawRows(offers: readonly Offer[]): void {
    const focused = this._rows.contains(document.activeElement)
      ? (document.activeElement?.closest('li')?.dataset.id ?? '')
      : '';
    const link = this._link;
    this._rows.replaceChildren(...(link === null ? [] : offers.map(one => this._row(link, one))));
    if (focused !== '') {
      const again = [...this._rows.children].find(one => (one as HTMLElement).dataset.id === focused);
      (again?.querySelector('button') ?? this._words).focus();
    }
  }

  private _row(link: Link, offer: Offer): HTMLElement {
    const row = element('li', 'jmcp-row jmcp-catalogue-row');
    row.dataset.id = offer.id;
    row.title = offer.detail;
    const title = element('div', 'jmcp-row-title');
    const insert = button('Insert', () => {
      this._options.insert(link, offer);
    });
    insert.setAttribute('aria-label', `Insert a cell: ${VERBS[offer.kind] ?? 'use'} ${offer.name} of ${offer.server}`);
    insert.title = 'Below the active cell; nothing is run';
    title.append(element('b', '', offer.name), element('span', 'jmcp-row-state', offer.kind), insert);
    const detail = element('div', 'jmcp-row-note', offer.detail);
    const marks = element('div', 'jmcp-catalogue-badges');
    marks.append(...offer.badges.map(badge));
    row.append(title, detail, ...(offer.badges.length > 0 ? [marks] : []));
    draggable(row, { kind: CALL, item: { link, offer } satisfies Carried, label: offer.name });
    return row;
  }

  private readonly _options: CatalogueOptions;
  private readonly _ask = inTurn(() => this._search());
  private readonly _look = inTurn(() => this._read());
  private readonly _bar = element('div');
  private readonly _words = element('input');
  private readonly _kind = element('select');
  private readonly _note = element('div');
  private readonly _rows = element('ul');
  private readonly _more = button('Show more', () => {
    this._limit += MORE;
    this._ask();
  });
  private _link: Link | null = null;
  private _revision: string | null = null;
  private _limit = ROWS;
  private _shown = '';
}

function badge(said: Badge): HTMLElement {
  const mark = element('span', 'jmcp-catalogue-badge', said.text);
  mark.dataset.tone = said.tone;
  return mark;
}
