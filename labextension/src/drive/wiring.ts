/**
 * The drive in JupyterLab: added to the contents when it is first looked at, drawn in the side bar, its commands.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';

import { say, type Parts } from '../commands/parts';
import { NotebookDrops } from '../drops';
import { text } from '../said';
import { ResourceActs } from './acts';
import { PANEL_ID, ResourcesPanel, viewerOf } from './browser';
import { DRIVE, ResourceDrive } from './drive';
import { draggedPaths, isAttachment } from './drops';

const READ_ONLY = 'jupyter-mcp:resources-are-read-only';
/** What JupyterLab's file browser takes for deleting, renaming and moving. */
const KEYS = ['Delete', 'F2', 'Accel X', 'Accel V', 'Accel D', 'Accel Backspace'];
const COMMANDS = {
  open: 'jupyter-mcp:open-resource',
  insert: 'jupyter-mcp:insert-resource',
  ask: 'jupyter-mcp:ask-resource',
  copy: 'jupyter-mcp:copy-resource-uri'
};

export class DriveWiring {
  constructor(parts: Parts) {
    this._parts = parts;
    const { app, links, notebooks } = parts;
    const kernels = (): Parts['links']['all'] => links.all;
    this.drive = new ResourceDrive({ kernels, serverSettings: app.serviceManager.serverSettings });
    app.serviceManager.contents.addDrive(this.drive);
    this._acts = new ResourceActs({
      drive: this.drive,
      kernels,
      notebook: (path): NotebookPanel | null => notebooks.find(one => one.context.path === path) ?? null,
      say
    });
    this._addCommands();
    const onDrop = (panel: NotebookPanel): void => {
      new NotebookDrops({
        panel,
        carried: draggedPaths,
        leave: (paths, cell): boolean => isAttachment(panel, paths, cell),
        dropped: (...what): void => void this._acts.drop(...what)
      });
    };
    notebooks.forEach(onDrop);
    notebooks.widgetAdded.connect((_, panel) => {
      onDrop(panel);
    });
    links.changed.connect(() => {
      this._update();
    });
    this._update();
  }

  readonly drive: ResourceDrive;

  /** Show the drive in the side bar. */
  browse(): void {
    const panel = this._show();
    if (panel !== null) {
      this._parts.app.shell.activateById(panel.id);
    }
  }

  private _addCommands(): void {
    const { commands } = this._parts.app;
    const act = (id: string, label: string, caption: string, execute: (path: string) => unknown): void => {
      commands.addCommand(id, { label, caption, execute: args => execute(text(args.path)) });
    };
    act(COMMANDS.open, 'Open', 'Preview by its type', path =>
      commands.execute('docmanager:open', { path: `${DRIVE}:${path}`, ...viewer(path) })
    );
    act(COMMANDS.insert, 'Insert a Cell That Reads It', 'Below the active cell of its notebook', path =>
      this._acts.insert(path)
    );
    act(COMMANDS.ask, 'Ask a Model About It', 'A cell whose question names it', path => this._acts.ask(path));
    act(READ_ONLY, 'Resources Are Read Only', '', () => {
      say('Resources of MCP servers can only be read.', 'info');
    });
    for (const key of KEYS) {
      // as JupyterLab's own bindings, and narrower: the nearest node wins, then the narrower selector
      const selector = `#${PANEL_ID} .jp-DirListing-content .jp-DirListing-itemText`;
      commands.addKeyBinding({ command: READ_ONLY, keys: [key], selector });
    }
    act(COMMANDS.copy, 'Copy Its URI', 'As its server calls it', path => this._acts.copyUri(path));
  }

  /** The panel; made when the first server is there. Null where there is no file browser. */
  private _show(): ResourcesPanel | null {
    const { app, browsers } = this._parts;
    if (this._panel === null && browsers !== null) {
      const menu = Object.values(COMMANDS);
      this._panel = new ResourcesPanel({ commands: app.commands, drive: this.drive, factory: browsers, menu });
      app.shell.add(this._panel, 'left', { rank: 120, type: 'File Browser' });
      void this._panel.refresh();
    }
    return this._panel;
  }

  private _update(): void {
    const { all } = this._parts.links;
    const revision = JSON.stringify(all.map(one => [one.notebook, one.revision]));
    if (revision === this._revision) {
      return;
    }
    this._revision = revision;
    this.drive.forget();
    if (all.some(one => one.standing.connected > 0)) {
      this._show();
    }
    void this._panel?.refresh();
  }

  private readonly _parts: Parts;
  private readonly _acts: ResourceActs;
  private _panel: ResourcesPanel | null = null;
  private _revision = '';
}

function viewer(path: string): { factory?: string } {
  const factory = viewerOf(path);
  return factory === null ? {} : { factory };
}
