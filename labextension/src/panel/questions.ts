/**
 * The panel's section of questions: the very cards of the cells, drawn a second time. A card is one widget, so that
 * whichever of its views is answered first wins, and the other becomes the record.
 */

import { Widget, PanelLayout } from '@lumino/widgets';

import '../../style/questions.css';
import type { Link, Links } from '../commands/parts';
import type { Waiting } from '../status/notices';
import { follow } from './following';

const VIEW = 'application/vnd.jupyter.widget-view+json';

export interface QuestionSectionOptions {
  links: Links;
  /** Go to the card in its cell. */
  show: (question: Waiting) => void;
}

/** Hides itself while nothing waits, and the section with it. */
export class QuestionSection extends Widget {
  constructor(options: QuestionSectionOptions) {
    super();
    this._options = options;
    this.addClass('jmcp-questions');
    this._elsewhere.className = 'jmcp-questions-elsewhere';
    this.node.append(this._elsewhere);
    this.layout = this._cards;
    follow(this, options.links.changed, () => {
      this._draw();
    });
  }

  private _draw(): void {
    const { current, all } = this._options.links;
    const here = current === null ? [] : current.questions.map(one => ({ link: current, question: one }));
    const shown = new Map(here.map(one => [keyOf(one.link, one.question), one]));
    for (const [key, card] of [...this._shown]) {
      if (!shown.has(key)) {
        this._shown.delete(key);
        card.dispose();
      }
    }
    for (const [key, { link, question }] of shown) {
      if (!this._shown.has(key)) {
        const card = new Card(link, question, this._options.show);
        this._shown.set(key, card);
        this._cards.addWidget(card);
      }
    }
    const others = all.filter(link => link !== current).flatMap(link => link.questions);
    this._elsewhere.replaceChildren(...others.map(question => this._line(question)));
    this.setHidden(here.length + others.length === 0);
  }

  /** A question of a notebook that is not in front. */
  private _line(question: Waiting): HTMLElement {
    const line = document.createElement('button');
    line.type = 'button';
    line.className = 'jmcp-questions-go';
    line.textContent = `${question.server} waits for your answer in ${question.notebook}`;
    line.title = question.title;
    line.addEventListener('click', () => {
      this._options.show(question);
    });
    return line;
  }

  private readonly _options: QuestionSectionOptions;
  private readonly _cards = new PanelLayout();
  private readonly _shown = new Map<string, Card>();
  private readonly _elsewhere = document.createElement('div');
}

/** One question of the notebook in front. */
class Card extends Widget {
  constructor(link: Link, question: Waiting, show: (question: Waiting) => void) {
    super();
    this.addClass('jmcp-questions-card');
    this.layout = this._inside;
    const go = document.createElement('button');
    go.type = 'button';
    go.className = 'jmcp-questions-go';
    go.textContent = 'Show its cell';
    go.addEventListener('click', () => {
      show(question);
    });
    if (question.model === '') {
      const note = document.createElement('p');
      note.textContent = `${question.server} asks: ${question.title}`;
      const why = document.createElement('p');
      why.className = 'jmcp-questions-why';
      why.textContent = 'It is put in its cell as soon as the running cell has ended, or is asked by input() there.';
      this.node.append(note, why, go);
    } else {
      void this._view(link, question.model);
      this.node.append(go);
    }
  }

  /** Draw the card's widget by what draws it in the notebook. */
  private async _view(link: Link, model: string): Promise<void> {
    const { rendermime } = link.panel.content;
    const renderer = rendermime.createRenderer(VIEW);
    this._inside.insertWidget(0, renderer);
    const data = { [VIEW]: { model_id: model, version_major: 2, version_minor: 0 } };
    await renderer.renderModel(rendermime.createModel({ data })).catch((error: unknown) => {
      console.warn('a question could not be drawn in the panel', error); // it is in its cell all the same
    });
  }

  private readonly _inside = new PanelLayout();
}

/** A question that goes on as another card is drawn anew. */
function keyOf(link: Link, question: Waiting): string {
  return JSON.stringify([link.panel.id, question.id, question.model]);
}
