/**
 * What can be done with resources of the drive: cells that read them, questions that name them, their addresses.
 *
 * A cell is put into the notebook whose kernel is connected to the server: in another it would not run.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';

import { insertCell } from '../commands/cells';
import type { Place } from '../drops';
import { record, text } from '../said';
import type { Kernel, ResourceDrive } from './drive';
import type { File } from './tree';

export interface ActsOptions {
  drive: ResourceDrive;
  kernels: () => readonly Kernel[];
  /** The notebook of a path, when it is open. */
  notebook: (path: string) => NotebookPanel | null;
  /** Say something to the person, one sentence. */
  say: (sentence: string) => void;
}

interface Spelled {
  /** The line that reads it. */
  source: string;
  /** As a question names it; "" when none can. */
  mention: string;
}

export class ResourceActs {
  constructor(options: ActsOptions) {
    this._options = options;
  }

  /** Put a cell that reads it below the active cell of its notebook. */
  async insert(path: string): Promise<void> {
    await this._do(path, async (file, panel) => {
      insertCell(panel, (await this._spelled(file)).source);
    });
  }

  /** Put a cell that asks a model about it below the active cell of its notebook. */
  async ask(path: string): Promise<void> {
    await this._do(path, async (file, panel) => {
      insertCell(panel, `%%mcp ask\n${await this._mention(file)} `);
    });
  }

  /** Put its URI onto the clipboard. */
  async copyUri(path: string): Promise<void> {
    await this._safely(async () => {
      await navigator.clipboard.writeText((await this._file(path)).resource.uri);
    });
  }

  /** It was dropped on a notebook. */
  async drop(panel: NotebookPanel, paths: readonly string[], place: Place): Promise<void> {
    let { at } = place;
    for (const path of paths) {
      await this._safely(async () => {
        const file = await this._file(path);
        if (file.shelf.notebook !== panel.context.path) {
          const { server, notebook } = file.shelf;
          throw new Error(`${server} is connected in ${notebook}, not in this notebook.`);
        }
        if (place.question === null) {
          insertCell(panel, (await this._spelled(file)).source, 'code', at);
          at += 1;
        } else {
          append(panel, place.question, await this._mention(file));
        }
      });
    }
  }

  private async _mention(file: File): Promise<string> {
    const { mention } = await this._spelled(file);
    if (mention === '') {
      throw new Error(`A question cannot name ${file.resource.uri}; read it in a cell instead.`);
    }
    return mention;
  }

  private async _spelled(file: File): Promise<Spelled> {
    const kernel = this._options.kernels().find(one => one.notebook === file.shelf.notebook);
    if (kernel === undefined) {
      throw new Error(`${file.shelf.notebook} is not open any more.`);
    }
    const { server } = file.shelf;
    const said = record(await kernel.request('resource_cell', { server, uri: file.resource.uri }));
    return { source: text(said.source), mention: text(said.mention) };
  }

  private async _file(path: string): Promise<File> {
    const found = await this._options.drive.find(path);
    if (found?.kind !== 'file') {
      throw new Error(found === null ? `There is no resource at ${path} any more.` : `${path} is a folder.`);
    }
    return found;
  }

  private async _do(path: string, act: (file: File, panel: NotebookPanel) => Promise<void>): Promise<void> {
    await this._safely(async () => {
      const file = await this._file(path);
      const panel = this._options.notebook(file.shelf.notebook);
      if (panel === null) {
        throw new Error(`${file.shelf.notebook} is not open any more.`);
      }
      await act(file, panel);
    });
  }

  private async _safely(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this._options.say(error instanceof Error ? error.message : String(error));
    }
  }

  private readonly _options: ActsOptions;
}

/** Put a word at the end of a cell. */
function append(panel: NotebookPanel, index: number, word: string): void {
  const shared = panel.content.widgets[index]?.model.sharedModel;
  if (shared === undefined) {
    return;
  }
  const source = shared.getSource();
  const started = /^\s*%%mcp\s+ask[^\n]*$/.test(source);
  const between = source === '' || /\s$/.test(source) ? '' : started ? '\n' : ' ';
  shared.setSource(`${source}${between}${word}`);
}
