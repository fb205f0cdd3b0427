/**
 * Which questions are said aloud, because they wait where nobody looks. Pure but for what it is given.
 *
 * Each question is said once, when it has been out of sight for a moment (a card takes its time to be drawn), and only
 * while it waits: its notice goes when it is answered, wherever that was, and when somebody has found it.
 */

/** How long a question has to be out of sight before it is said, in milliseconds. */
export const GRACE = 1000;

/** A question that waits for a person. */
export interface Waiting {
  id: string;
  server: string;
  /** What is asked, in a few words; from a server, so it is text. */
  title: string;
  /** The notebook it waits in. */
  notebook: string;
  /** The id of the cell it is put in; "" where that is not known. */
  cell: string;
  /** The id of its card's widget; "" until that is drawn. */
  model: string;
}

export interface NoticesOptions {
  /** Whether the person has it before them now. */
  inSight: (question: Waiting) => boolean;
  /** Say it. Returns what takes it back. */
  say: (question: Waiting) => () => void;
  /** Milliseconds, from anywhere. */
  now: () => number;
}

/** What is known of a question that waits. */
interface Known {
  notebook: string;
  /** Since when it is out of sight; null while it is seen. */
  since: number | null;
  /** It has been said. */
  said: boolean;
  takeBack: () => void;
}

export class Notices {
  constructor(options: NoticesOptions) {
    this._options = options;
  }

  /** Whether any question waits: then it is to be looked again. */
  get waiting(): boolean {
    return this._known.size > 0;
  }

  /** The questions of one notebook that wait now; to be called again from time to time while any waits. */
  update(notebook: string, questions: readonly Waiting[]): void {
    const waiting = new Set(questions.map(key));
    for (const [name, known] of [...this._known]) {
      if (known.notebook === notebook && !waiting.has(name)) {
        this._known.delete(name);
        known.takeBack();
      }
    }
    for (const question of questions) {
      this._look(question);
    }
  }

  private _look(question: Waiting): void {
    const { inSight, now, say } = this._options;
    const known = this._known.get(key(question)) ?? newlyKnown(question.notebook);
    this._known.set(key(question), known);
    if (inSight(question)) {
      known.since = null;
      known.takeBack();
      return;
    }
    known.since ??= now();
    if (!known.said && now() - known.since >= GRACE) {
      known.said = true;
      known.takeBack = say(question);
    }
  }

  private readonly _options: NoticesOptions;
  private readonly _known = new Map<string, Known>();
}

function newlyKnown(notebook: string): Known {
  return { notebook, since: null, said: false, takeBack: () => undefined };
}

/** One line for a notice. JupyterLab cuts what is longer than 140 characters. */
export function noticeOf(question: Waiting): string {
  const where = question.notebook.split('/').pop() ?? question.notebook;
  const asked = question.title.replace(/\s+/g, ' ').trim();
  const head = `${question.server} waits for your answer in ${where}`;
  const whole = asked === '' ? `${head}.` : `${head}: ${asked}`;
  return whole.length > 140 ? `${whole.slice(0, 139)}\u2026` : whole;
}

function key(question: Waiting): string {
  return JSON.stringify([question.notebook, question.id]);
}
