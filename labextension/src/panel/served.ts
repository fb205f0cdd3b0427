/** A notebook as a server, as its kernel tells of it. Pure. */

import { list, record, text } from '../said';

/** A client that came. */
export interface Visitor {
  name: string;
  version: string;
  /** When it was last heard of, in seconds since 1970. */
  last: number;
  requests: number;
}

/** What a client did. */
export interface Visit {
  client: string;
  what: string;
  /** "" when it went as it should. */
  outcome: string;
}

export interface Served {
  served: boolean;
  /** It was served before. */
  again: boolean;
  name: string;
  /** The first of its variables that may be seen, and how many there are. */
  names: readonly string[];
  variables: number;
  hidden: number;
  /** Only named ones are. */
  chosen: boolean;
  functions: readonly string[];
  allowCode: boolean;
  /** What becomes of clients' code. */
  code: string;
  /** Who may come from elsewhere. */
  outside: string;
  /** The line for an agent on this machine. */
  command: string;
  clients: readonly Visitor[];
  acts: readonly Visit[];
}

/** An answer, read without trust. */
export function readServed(value: unknown): Served {
  const said = record(value);
  return {
    served: said.served === true,
    again: said.again === true,
    name: text(said.name),
    names: list(said.names).map(text),
    variables: count(said.variables),
    hidden: count(said.hidden),
    chosen: said.chosen === true,
    functions: list(said.functions).map(text),
    allowCode: said.allow_code === true,
    code: text(said.code),
    outside: text(said.outside),
    command: text(said.command),
    clients: list(said.clients)
      .map(record)
      .map(one => ({
        name: text(one.name),
        version: text(one.version),
        last: count(one.last),
        requests: count(one.requests)
      })),
    acts: list(said.acts)
      .map(record)
      .map(one => ({ client: text(one.client), what: text(one.what), outcome: text(one.outcome) }))
  };
}

/** What may be seen and done, as rows of a term and words. */
export function exposed(served: Served): (readonly [string, string])[] {
  const left = served.variables - served.names.length;
  const names = [...served.names, ...(left > 0 ? [`${left.toLocaleString('en')} more`] : [])].join(', ') || 'none yet';
  const only = served.chosen ? ' (only these)' : '';
  const hidden = served.hidden > 0 ? `; ${served.hidden.toLocaleString('en')} hidden` : '';
  const rows: (readonly [string, string])[] = [['Variables', `${names}${only}${hidden}`]];
  if (served.functions.length > 0) {
    rows.push(['Functions', served.functions.join(', ')]);
  }
  if (served.outside !== '') {
    rows.push(['From elsewhere', served.outside]);
  }
  rows.push(['Code', served.allowCode ? served.code : 'not allowed']);
  return rows;
}

/** How long ago, in words. */
export function ago(seconds: number): string {
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60]
  ] as const) {
    const number = Math.floor(seconds / size);
    if (number > 0) {
      return `${number.toLocaleString('en')} ${unit}${number === 1 ? '' : 's'} ago`;
    }
  }
  return 'just now';
}

function count(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
