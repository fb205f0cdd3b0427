/** What servers offer, as a kernel tells it to the panel. Pure. */

import { list, record, text } from '../said';

export interface Badge {
  text: string;
  /** "ok", "info", "warn", "error" or "". */
  tone: string;
}

/** A tool, resource, template or prompt. */
export interface Offer {
  /** By which the kernel knows it. */
  id: string;
  kind: string;
  server: string;
  /** What a person calls it. */
  name: string;
  detail: string;
  badges: readonly Badge[];
}

/** The first of those that fit, and how many there are. */
export interface Offers {
  items: readonly Offer[];
  found: number;
  total: number;
  servers: number;
}

export const NOTHING: Offers = { items: [], found: 0, total: 0, servers: 0 };

/** The offers of an answer; what does not look as agreed is left out. */
export function readOffers(said: unknown): Offers {
  const answer = record(said);
  const items = list(answer.items).flatMap(offer);
  return { items, found: count(answer.found), total: count(answer.total), servers: count(answer.servers) };
}

/** How many are shown of how many. */
export function tally(offers: Offers): string {
  const { found, total } = offers;
  const all = total.toLocaleString('en');
  return found === total ? `${all} in all` : `${found.toLocaleString('en')} of ${all}`;
}

function offer(said: unknown): Offer[] {
  const { id, kind, server, name, detail, badges } = record(said);
  if (typeof id !== 'string' || id === '' || typeof name !== 'string') {
    return [];
  }
  const marks = list(badges)
    .map(record)
    .map(one => ({ text: text(one.text), tone: text(one.tone) }));
  return [{ id, kind: text(kind), server: text(server), name, detail: text(detail), badges: marks }];
}

function count(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
