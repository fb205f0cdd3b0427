/**
 * The drive in the side bar: JupyterLab's own file browser over our drive, with a menu of what can be done with resources.
 *
 * JupyterLab's menu for files renames, deletes and cuts, which this drive refuses; so it is not offered here.
 */

import type { FileBrowser, IFileBrowserFactory } from '@jupyterlab/filebrowser';
import type { CommandRegistry } from '@lumino/commands';
import { BoxPanel, Menu, Widget } from '@lumino/widgets';

import '../../style/drive.css';
import { DRIVE, type ResourceDrive } from './drive';
import { resourcesIcon } from './icon';

export const PANEL_ID = 'jupyter-mcp-resources';

/** How resources are opened that JupyterLab would open for writing. */
const VIEWERS: readonly (readonly [RegExp, string])[] = [[/\.(md|markdown)$/i, 'Markdown Preview']];

export interface BrowserOptions {
  commands: CommandRegistry;
  drive: ResourceDrive;
  factory: IFileBrowserFactory;
  /** The commands of the menu, in their order; each takes `{path}`, a path of the drive. */
  menu: readonly string[];
}

export class ResourcesPanel extends BoxPanel {
  constructor(options: BrowserOptions) {
    super({ direction: 'top-to-bottom', spacing: 0 });
    this.id = PANEL_ID;
    this.addClass('jmcp-drive');
    this.title.icon = resourcesIcon;
    this.title.caption = 'MCP resources';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'MCP resources');
    this._options = options;
    this._note.addClass('jmcp-drive-note');
    this._note.node.setAttribute('role', 'status');
    this.browser = options.factory.createFileBrowser(`${PANEL_ID}-browser`, {
      driveName: DRIVE,
      refreshInterval: 3_600_000, // kernels tell when there is something else
      restore: false,
      allowFileUploads: false
    });
    this.browser.showFileFilter = true;
    this.browser.showLastModifiedColumn = false;
    this.addWidget(this._note);
    this.addWidget(this.browser);
    BoxPanel.setStretch(this._note, 0);
    BoxPanel.setStretch(this.browser, 1);
    for (const kind of ['contextmenu', 'dblclick', 'keydown'] as const) {
      this.browser.node.addEventListener(kind, this, true);
    }
  }

  readonly browser: FileBrowser;

  handleEvent(event: Event): void {
    if (event.type === 'contextmenu') {
      this._openMenu(event as MouseEvent);
    } else if (event.type === 'dblclick' || (event as KeyboardEvent).key === 'Enter') {
      this._view(event);
    }
  }

  /** Look at the drive again: what a kernel told has changed it. */
  async refresh(): Promise<void> {
    this._options.drive.forget();
    await this.browser.model.refresh();
    const top = await this._options.drive.find('');
    const empty = top?.kind === 'folder' && top.inside.size === 0;
    this._note.node.textContent = empty
      ? 'The notebooks that are open are connected to no server. In a cell: %mcp connect'
      : '';
  }

  /** Paths of what is chosen, without the drive's name; folders too. */
  get chosen(): string[] {
    return [...this.browser.selectedItems()].map(one => localPath(one.path));
  }

  private _openMenu(event: MouseEvent): void {
    const item = (event.target as HTMLElement).closest('.jp-DirListing-item');
    event.preventDefault();
    event.stopPropagation();
    const [path] = this.chosen;
    if (item === null || item.getAttribute('data-isdir') === 'true' || path === undefined) {
      return;
    }
    const menu = new Menu({ commands: this._options.commands });
    for (const command of this._options.menu) {
      menu.addItem({ command, args: { path } });
    }
    menu.aboutToClose.connect(() => {
      window.setTimeout(() => {
        menu.dispose(); // not before it has run what was chosen
      });
    });
    const at = item.getBoundingClientRect();
    const byKey = event.clientX === 0 && event.clientY === 0;
    menu.open(byKey ? at.left + 24 : event.clientX, byKey ? at.bottom : event.clientY);
  }

  /** Open what is chosen with its viewer, where JupyterLab would not. */
  private _view(event: Event): void {
    const target = event.target as HTMLElement;
    const inList = target.closest('.jp-DirListing-content') !== null && target.tagName !== 'INPUT';
    const items = [...this.browser.selectedItems()];
    const [item] = items;
    const viewer = item === undefined || item.type === 'directory' ? null : viewerOf(item.path);
    if (!inList || items.length !== 1 || item === undefined || viewer === null) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    void this._options.commands.execute('docmanager:open', { path: item.path, factory: viewer });
  }

  private readonly _options: BrowserOptions;
  private readonly _note = new Widget();
}

/** The viewer of a file that is no editor; null where JupyterLab's own choice is one. */
export function viewerOf(path: string): string | null {
  return VIEWERS.find(([kind]) => kind.test(path))?.[1] ?? null;
}

/** A path without the drive's name. */
export function localPath(path: string): string {
  return path.startsWith(`${DRIVE}:`) ? path.slice(DRIVE.length + 1) : path;
}
