/** A page without JupyterLab: renderers like its own, told by a test what the kernel knows. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel, Widget } from '@lumino/widgets';

import { CARD, HTML, VIEW } from '../src/mime';

export type Data = Record<string, unknown>;

/** An output as the kernel writes it. */
export function output(html: string | null, card: Data = {}, modelId = 'm1'): IRenderMime.IMimeModel {
  const data: Data = {
    [CARD]: { version: 1, model_id: modelId, explorer: false, ...card },
    [VIEW]: { version_major: 2, version_minor: 0, model_id: modelId },
    'text/plain': ''
  };
  if (html !== null) {
    data[HTML] = html;
  }
  return { trusted: true, data: data as IRenderMime.IMimeModel['data'], metadata: {}, setData: () => undefined };
}

/** Draws as ipywidgets does: a view, or words where there is none. */
export class WidgetLike extends Panel implements IRenderMime.IRenderer {
  constructor(private readonly _page: Page) {
    super();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.drawn += 1;
    this.node.textContent = 'Loading widget...';
    if (this._page.silent) {
      return new Promise(() => undefined); // as long as there is no kernel
    }
    await Promise.resolve();
    const view = model.data[VIEW] as { model_id: string };
    if (this._page.broken) {
      throw new Error('no manager');
    }
    if (!this._page.models.has(view.model_id)) {
      this.node.textContent = 'Error displaying widget: model not found';
      return;
    }
    this.showView();
  }

  /** The model has been found. */
  showView(): void {
    this.node.textContent = '';
    const view = new Widget();
    view.addClass('live-view');
    this.addWidget(view);
  }

  drawn = 0;
}

/** Draws HTML, and remembers whether it was asked to trust it. */
export class HtmlLike extends Widget implements IRenderMime.IRenderer {
  constructor(private readonly _page: Page) {
    super();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    await Promise.resolve();
    this._page.trusted.push(model.trusted);
    this.node.innerHTML = model.data[HTML] as string; // a test's own words
  }
}

export class Page {
  readonly models = new Set(['m1']);
  readonly widgets: WidgetLike[] = [];
  readonly trusted: boolean[] = [];
  silent = false;
  broken = false;
  factory = {};

  readonly getFactory = (): unknown => this.factory;

  readonly createRenderer = (mimeType: string): IRenderMime.IRenderer => {
    if (mimeType === HTML) {
      return new HtmlLike(this);
    }
    const made = new WidgetLike(this);
    this.widgets.push(made);
    return made;
  };
}

/** What a person can read in a widget. */
export function words(widget: Widget): string {
  const seen = widget.node.cloneNode(true) as HTMLElement;
  for (const hidden of seen.querySelectorAll('.lm-mod-hidden')) {
    hidden.remove();
  }
  return (seen.textContent ?? '').trim();
}

/** Until everything that waits for nothing has happened. */
export async function settled(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 0));
}
