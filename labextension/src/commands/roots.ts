/**
 * "Offer as a root": a folder of JupyterLab's file browser is told to the servers of the notebook in front.
 */

import { PageConfig } from '@jupyterlab/coreutils';

import { record, text } from '../said';
import { say, sentenceOf, type Link, type Parts } from './parts';

export const OFFER_ROOT = 'jupyter-mcp:offer-root';

/** Add the command, and its line in the menu of folders. */
export function addRootCommand({ app, links, browsers }: Parts): void {
  if (browsers === null) {
    return;
  }
  const chosen = (): string[] => {
    const items = [...(browsers.tracker.currentWidget?.selectedItems() ?? [])];
    return items.filter(one => one.type === 'directory').map(one => app.serviceManager.contents.localPath(one.path));
  };
  app.commands.addCommand(OFFER_ROOT, {
    label: 'Offer as a Root to MCP Servers',
    caption: 'The servers of the notebook in front are told of this folder',
    isVisible: () => links.current !== null,
    isEnabled: () => links.current !== null && chosen().length > 0,
    execute: async () => {
      const link = links.current;
      for (const path of chosen()) {
        await (link === null ? undefined : offer(link, path));
      }
    }
  });
  const selector = '.jp-FileBrowser .jp-DirListing-item[data-isdir="true"]';
  app.contextMenu.addItem({ command: OFFER_ROOT, selector, rank: 50 });
  app.contextMenu.addItem({ type: 'separator', selector, rank: 50 });
}

async function offer(link: Link, path: string): Promise<void> {
  const asked = { path, notebook: link.notebook, server_root: PageConfig.getOption('serverRoot') };
  try {
    const { name } = record(await link.request('root_offer', asked));
    say(`${text(name)} is offered as a root in ${link.notebook}.`, 'info');
  } catch (error) {
    say(sentenceOf(error));
  }
}
