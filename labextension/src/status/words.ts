/**
 * What the status bar says of the notebook in front, and of questions that wait elsewhere. Pure.
 */

/** What is known of one notebook's kernel. */
export interface Standing {
  /** Its servers that are connected. */
  connected: number;
  /** Its servers that are lost, or could not be reached. */
  broken: number;
  /** Questions that wait for an answer. */
  waiting: number;
}

export interface Said {
  /** "" when there is nothing to say, and the item is not shown. */
  text: string;
  /** For the pointer and for screen readers. */
  title: string;
  /** Somebody is waited for. */
  urgent: boolean;
}

/**
 * The words.
 *
 * @param here the notebook in front; null when it has no kernel with the extension, or there is none in front.
 * @param elsewhere questions that wait in other notebooks of the page.
 */
export function statusOf(here: Standing | null, elsewhere: number): Said {
  const waiting = (here?.waiting ?? 0) + elsewhere;
  const servers = here === null ? 0 : here.connected + here.broken;
  if (servers === 0 && waiting === 0) {
    return { text: '', title: '', urgent: false };
  }
  const parts: string[] = [];
  const told: string[] = [];
  if (here !== null && servers > 0) {
    parts.push(counted(servers, 'server'));
    told.push(`${counted(here.connected, 'MCP server')} connected`);
  }
  if (here !== null && here.broken > 0) {
    parts.push(`${String(here.broken)} lost`);
    told.push(`${String(here.broken)} not reached`);
  }
  if (waiting > 0) {
    parts.push(`${counted(waiting, 'question')} ${waiting === 1 ? 'waits' : 'wait'}`);
    told.push(whereOf(waiting, elsewhere));
  }
  return { text: `MCP: ${parts.join(', ')}`, title: `${told.join(', ')}. Open the panel.`, urgent: waiting > 0 };
}

function whereOf(waiting: number, elsewhere: number): string {
  const said = `${counted(waiting, 'question')} ${waiting === 1 ? 'waits' : 'wait'} for your answer`;
  if (elsewhere === 0) {
    return said;
  }
  return elsewhere === waiting ? `${said} in another notebook` : `${said}, ${String(elsewhere)} in other notebooks`;
}

function counted(number: number, what: string): string {
  return `${String(number)} ${what}${number === 1 ? '' : 's'}`;
}
