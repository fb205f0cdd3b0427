/**
 * The MIME type of a live card: what the kernel writes beside a widget view, so that a page knows the output for ours.
 *
 * Outputs come from files and kernels that nobody has vouched for: what does not look as agreed is no card.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

export const CARD = 'application/vnd.jupyter-mcp.card+json';
export const VIEW = 'application/vnd.jupyter.widget-view+json';
export const HTML = 'text/html';

/** Above ipywidgets' own renderer (-10), so that an output with both is ours. Lower comes first. */
export const RANK = -20;

/** A card as it is written in an output, version 1. */
export interface Card {
  /** The widget that is its live form, while its kernel knows it. */
  modelId: string | null;
  /** Whether what it shows is an output of its own, which stands before this one. */
  explorer: boolean;
}

/** The card that an output holds; null when it holds none that this version understands. */
export function readCard(data: IRenderMime.IMimeModel['data']): Card | null {
  const found: unknown = data[CARD];
  if (!isRecord(found) || found.version !== 1) {
    return null;
  }
  const view: unknown = data[VIEW];
  const named = typeof found.model_id === 'string' && found.model_id !== '' ? found.model_id : null;
  const shown = isRecord(view) && view.model_id === named; // ipywidgets empties it when the view has been closed
  return { modelId: shown ? named : null, explorer: found.explorer === true };
}

/** An output's HTML, also when a notebook file has it as lines; null when there is nothing to read in it. */
export function readHtml(data: IRenderMime.IMimeModel['data']): string | null {
  const found: unknown = data[HTML];
  const text = Array.isArray(found) ? found.join('') : found;
  return typeof text === 'string' && text.trim() !== '' ? text : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
