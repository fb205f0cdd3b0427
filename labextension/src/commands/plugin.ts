/**
 * Everything beside cards, as a plugin of JupyterLab. At start it looks for kernels that have jupyter_mcp loaded; what
 * they are used with is loaded with the first.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';

import { findKernels } from '../panel/finding';
import type { Everything } from '../panel/start';

const ID = 'jupyter-mcp-host:settings';

export const beside: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Servers, prompts, resources and questions of the notebooks that are open.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, ISettingRegistry, IStatusBar, IFileBrowserFactory],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    palette: ICommandPalette | null,
    registry: ISettingRegistry | null,
    statusBar: IStatusBar | null,
    browsers: IFileBrowserFactory | null
  ): void => {
    let started: Promise<Everything> | null = null;
    const start = async (): Promise<Everything> => {
      const { everything } = await import('../panel/start');
      const settings = await (registry?.load(ID) ?? Promise.resolve(null)).catch(() => null);
      return everything({ app, notebooks, palette, settings, statusBar, browsers });
    };
    findKernels(notebooks, {
      found: (panel, kernel, comm) => {
        started ??= start();
        void started.then(({ links }) => links.add(panel, kernel, comm));
      },
      again: panel => {
        void started?.then(({ links }) => {
          links.again(panel);
        });
      },
      lost: panel => {
        void started?.then(({ links }) => {
          links.drop(panel);
        });
      }
    });
  }
};
