/**
 * A card on the page: live while its kernel knows it, else the form that was saved beside it.
 *
 * RULES
 *
 * - The live form is drawn by ipywidgets' renderer, which is asked for by its MIME type and never looked into: it is live
 *   as long as it holds a view. Whatever it says instead ("Error displaying widget", "Loading widget...") is not shown.
 * - The saved form is the output's own text/html, cleaned by the page's sanitizer whether or not the notebook is trusted.
 * - ipywidgets' renderer is made anew when a notebook's kernel is known; one that was made before never draws. So a card
 *   that is not live yet asks again when the renderer of that MIME type is another.
 * - A view is left on the page as it is when the output is written again with the same model.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel, Widget } from '@lumino/widgets';

import { HTML, readCard, readHtml, VIEW } from './mime';

/** How long a page may look for a live form before the saved one is shown meanwhile, in milliseconds. */
export const PATIENCE = 1500;

/** How often a card that is not live looks for another renderer of widgets, in milliseconds, and how many times. */
const AGAIN = 200;
const TIMES = 300;

export interface CardOptions {
  /** Makes the renderer of a MIME type as the notebook would. */
  createRenderer: (mimeType: string) => IRenderMime.IRenderer;
  /** What makes the renderers of a MIME type now. */
  getFactory: (mimeType: string) => unknown;
  /** Milliseconds; by default `PATIENCE`. */
  patience?: number;
}

export class CardRenderer extends Panel implements IRenderMime.IRenderer {
  constructor(options: CardOptions) {
    super();
    this.addClass('jmcp-output');
    this._options = options;
  }

  /** Whether the live form is on the page. */
  get live(): boolean {
    return this._live !== null && holdsView(this._live);
  }

  /**
   * Draw an output. Resolves when its live form or its saved one is there, not later than `patience` allows.
   *
   * @param model the whole output; its text/html is the saved form.
   */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const card = readCard(model.data);
    this._html = readHtml(model.data);
    if (card?.modelId == null) {
      this._drop();
      await this._showSaved();
      return;
    }
    if (card.modelId === this._modelId && this._live !== null) {
      await this._settle(this._live);
      return;
    }
    this._drop();
    this._modelId = card.modelId;
    this._model = model;
    await this._look(model);
  }

  /** Look for the live form anew if there is another renderer of widgets by now. Returns whether it did. */
  async retry(): Promise<boolean> {
    const [live, model] = [this._live, this._model];
    if (this.isDisposed || live === null || model === null || holdsView(live)) {
      return false;
    }
    if (this._options.getFactory(VIEW) === this._factory) {
      return false;
    }
    this._live = null;
    live.dispose();
    await this._look(model);
    return true;
  }

  /** The kernel of the card is gone: what is live answers no more, so the saved form takes its place. */
  async expire(): Promise<void> {
    if (this._live === null || this.isDisposed) {
      return;
    }
    this._drop();
    this._expired = true;
    await this._showSaved();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._stopLooking();
    window.clearInterval(this._asking);
    super.dispose();
  }

  /** Look for the live form; what is found later still takes its place. */
  private async _look(model: IRenderMime.IMimeModel): Promise<void> {
    this._factory = this._options.getFactory(VIEW);
    const live = this._options.createRenderer(VIEW);
    this._live = live;
    this._expired = false;
    this._keepAsking();
    live.hide();
    const observer = new MutationObserver(() => {
      if (holdsView(live) === live.isHidden) {
        void this._settle(live);
      }
    });
    observer.observe(live.node, { childList: true });
    live.disposed.connect(() => {
      observer.disconnect();
    });
    this.addWidget(live);
    const late = new Promise<void>(resolve => {
      const timer = window.setTimeout(resolve, this._options.patience ?? PATIENCE);
      this._stopLooking = (): void => {
        window.clearTimeout(timer);
        resolve();
      };
    });
    await Promise.race([live.renderModel(model).catch(() => undefined), late]);
    this._stopLooking();
    await this._settle(live);
  }

  private _keepAsking(): void {
    window.clearInterval(this._asking);
    let left = TIMES;
    this._asking = window.setInterval(() => {
      left -= 1;
      if (left === 0 || this.live || this._live === null) {
        window.clearInterval(this._asking);
      } else {
        void this.retry();
      }
    }, AGAIN);
  }

  /** Show what there is: the live form when it holds a view, else the saved one. */
  private async _settle(live: IRenderMime.IRenderer): Promise<void> {
    if (this.isDisposed || live !== this._live || live.isDisposed) {
      return;
    }
    if (!holdsView(live)) {
      live.hide();
      await this._showSaved();
      return;
    }
    this._saved?.dispose();
    this._saved = null;
    live.show();
  }

  private async _showSaved(): Promise<void> {
    if (this._saved !== null && !this._saved.isDisposed) {
      this._saved.dispose();
    }
    const saved = new Panel();
    this._saved = saved;
    this.addWidget(saved);
    if (this._expired) {
      saved.addWidget(expiredLine());
    }
    if (this._html !== null) {
      const renderer = this._options.createRenderer(HTML);
      saved.addWidget(renderer);
      await renderer.renderModel(untrusted(this._html));
    }
  }

  private _drop(): void {
    this._stopLooking();
    const live = this._live;
    this._live = null;
    this._modelId = null;
    this._model = null;
    window.clearInterval(this._asking);
    this._expired = false;
    live?.dispose();
    this._saved?.dispose();
    this._saved = null;
  }

  private readonly _options: CardOptions;
  private _live: IRenderMime.IRenderer | null = null;
  private _saved: Panel | null = null;
  private _modelId: string | null = null;
  private _model: IRenderMime.IMimeModel | null = null;
  private _factory: unknown = null;
  private _asking = 0;
  private _html: string | null = null;
  private _expired = false;
  private _stopLooking: () => void = () => undefined;
}

/** Whether a renderer of widgets holds one. */
function holdsView(renderer: Widget): boolean {
  for (const _ of renderer.children()) {
    return true;
  }
  return false;
}

function expiredLine(): Widget {
  const line = new Widget();
  line.addClass('jmcp-expired');
  line.node.setAttribute('role', 'status');
  line.node.textContent = 'The kernel of this card is gone; this is its last state. Run the cell again to use it.';
  return line;
}

/** An output of HTML alone, which the page has to clean. */
function untrusted(html: string): IRenderMime.IMimeModel {
  return { trusted: false, data: { [HTML]: html }, metadata: {}, setData: () => undefined };
}
