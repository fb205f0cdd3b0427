/**
 * What the parts of this extension are given: JupyterLab's own, and the kernels of the notebooks that are open.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification, type ICommandPalette } from '@jupyterlab/apputils';
import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { IStatusBar } from '@jupyterlab/statusbar';
import type { ISignal } from '@lumino/signaling';

import type { Waiting } from '../status/notices';
import type { Standing } from '../status/words';

/** A call or a task that goes on. */
export interface Going {
  id: string;
  label: string;
  /** How long already; null where that is not known. */
  seconds: number | null;
  progress: number | null;
  total: number | null;
  message: string;
  /** The name of the task that it has become, or "". */
  task: string;
}

/** The kernel of one notebook, which has jupyter_mcp loaded. */
export interface Link {
  readonly panel: NotebookPanel;
  /** The notebook's path. */
  readonly notebook: string;
  /** Rejects with one sentence for people. */
  request: (act: string, data?: Record<string, unknown>) => Promise<unknown>;
  /** How its servers are. */
  readonly standing: Standing;
  /** The questions that wait in it. */
  readonly questions: readonly Waiting[];
  /** Tells of lists that have changed; changes whenever they do. */
  readonly revision: string;
  /** Calls and tasks that go on in it. */
  readonly running: readonly Going[];
  /** How often an act began or ended there. */
  readonly acted: number;
  /** Another whenever it is served, no more or otherwise, or somebody came. */
  readonly visits: number;
}

/** All of them. */
export interface Links {
  readonly all: readonly Link[];
  /** That of the notebook in front; null when it has none. */
  readonly current: Link | null;
  /** Emitted when any of the above, or of a link, is another. */
  readonly changed: ISignal<unknown, unknown>;
  /** Show the panel of the notebook in front. */
  openPanel: () => void;
}

export interface Parts {
  app: JupyterFrontEnd;
  links: Links;
  notebooks: INotebookTracker;
  palette: ICommandPalette | null;
  settings: ISettingRegistry.ISettings | null;
  statusBar: IStatusBar | null;
  browsers: IFileBrowserFactory | null;
}

/** Say one sentence to the person. JupyterLab cuts what is longer than 140 characters. */
export function say(sentence: string, kind: 'info' | 'warning' | 'error' = 'warning'): void {
  Notification.emit(sentence, kind, { autoClose: 8000 });
}

/** What went wrong, in words. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
