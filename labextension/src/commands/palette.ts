/**
 * Commands that belong to no single part: they write cells, show what is elsewhere, or apply the settings.
 */

import type { DriveWiring } from '../drive/wiring';
import type { StatusWiring } from '../status/wiring';
import { insertCell } from './cells';
import type { Link, Parts } from './parts';
import type { Settings } from './settings';

const CATEGORY = 'MCP';

export interface Wired {
  settings: Settings;
  drive: DriveWiring;
  status: StatusWiring;
}

/** Add them, and their lines in the palette. */
export function addCommands({ app, links, palette }: Parts, { settings, drive, status }: Wired): void {
  const add = (id: string, label: string, caption: string, execute: () => unknown, isEnabled: () => boolean): void => {
    app.commands.addCommand(`jupyter-mcp:${id}`, { label, caption, execute, isEnabled });
    palette?.addItem({ command: `jupyter-mcp:${id}`, category: CATEGORY });
  };
  const here = (): boolean => links.current !== null;
  const inFront = (act: (link: Link) => unknown) => (): unknown => (links.current === null ? null : act(links.current));
  const cell = (source: string): (() => unknown) =>
    inFront(link => {
      insertCell(link.panel, source);
    });
  add('insert-connect', 'Connect an MCP Server', 'A cell with %mcp connect', cell('%mcp connect '), here);
  add('insert-explorer', 'Explore MCP Servers', 'A cell with the explorer', cell('%mcp'), here);
  add(
    'browse-resources',
    'Browse MCP Resources',
    'Resources as files',
    () => {
      drive.browse();
    },
    () => links.all.length > 0
  );
  add(
    'show-question',
    'Show the MCP Question That Waits',
    'In its notebook and in the panel',
    () => {
      status.show();
    },
    () => links.all.some(one => one.questions.length > 0)
  );
  const apply = inFront(link => settings.apply(link, true));
  add('apply-settings', 'Apply the MCP Settings to This Notebook', 'Servers, policy and model by default', apply, here);
}
