/**
 * Which questions are said aloud, because they wait where nobody looks. Pure but for what it is given.
 *
 * Each question is said once, and only while it waits: its notice goes when it is answered, wherever that was.
 */

/** A question that waits for a person. */
export interface Waiting {
  id: string;
  server: string;
  /** What is asked, in a few words; from a server, so it is text. */
  title: string;
  /** The notebook it waits in. */
  notebook: string;
}

export interface NoticesOptions {
  /** Whether the person has it before them now. */
  inSight: (question: Waiting) => boolean;
  /** Say it. Returns what takes it back. */
  say: (question: Waiting) => () => void;
}

export class Notices {
  constructor(options: NoticesOptions) {
    this._options = options;
  }

  /** The questions of one notebook that wait now. */
  update(notebook: string, questions: readonly Waiting[]): void {
    const waiting = new Set(questions.map(one => key(one)));
    for (const [known, { from, takeBack }] of [...this._said]) {
      if (from === notebook && !waiting.has(known)) {
        this._said.delete(known);
        takeBack();
      }
    }
    for (const question of questions) {
      if (!this._said.has(key(question)) && !this._options.inSight(question)) {
        this._said.set(key(question), { from: notebook, takeBack: this._options.say(question) });
      }
    }
  }

  private readonly _options: NoticesOptions;
  private readonly _said = new Map<string, { from: string; takeBack: () => void }>();
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
