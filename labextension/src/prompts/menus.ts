/**
 * The prompts of the notebook in front: in the command palette by name, and in the menu of a cell.
 */

import type { ICommandPalette } from '@jupyterlab/apputils';
import type { CommandRegistry } from '@lumino/commands';
import { DisposableSet, type IDisposable } from '@lumino/disposable';
import { Menu, type ContextMenu } from '@lumino/widgets';

import type { Prompt } from './prompts';

/** Opens a prompt's form. Takes `{server, name, label, selection?: boolean}`. */
export const PROMPT = 'jupyter-mcp:prompt';
export const CATEGORY = 'MCP prompts';
export const MENU_LABEL = 'MCP prompt with the selection';

/** So many have a line of their own in a menu; all are in the palette. */
const IN_MENU = 25;

export interface PromptMenusOptions {
  commands: CommandRegistry;
  contextMenu: ContextMenu;
  palette: ICommandPalette | null;
  /** What a prompt is called in a list. */
  label: (prompt: Prompt) => string;
}

export class PromptMenus implements IDisposable {
  constructor(options: PromptMenusOptions) {
    this._options = options;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._shown.dispose();
  }

  /** Offer these and no others. */
  show(prompts: readonly Prompt[]): void {
    this._shown.dispose();
    this._shown = new DisposableSet();
    if (prompts.length === 0 || this._isDisposed) {
      return;
    }
    const { commands, contextMenu, palette, label } = this._options;
    const menu = new Menu({ commands });
    menu.title.label = MENU_LABEL;
    for (const [at, prompt] of prompts.entries()) {
      const args = { server: prompt.server, name: prompt.name, label: label(prompt) };
      if (palette !== null) {
        this._shown.add(palette.addItem({ command: PROMPT, category: CATEGORY, args }));
      }
      if (at < IN_MENU) {
        menu.addItem({ command: PROMPT, args: { ...args, selection: true } });
      }
    }
    const place = { selector: '.jp-Notebook .jp-Cell', rank: 30 };
    this._shown.add(contextMenu.addItem({ type: 'submenu', submenu: menu, ...place }));
    this._shown.add(contextMenu.addItem({ type: 'separator', ...place }));
    this._shown.add(menu);
  }

  private readonly _options: PromptMenusOptions;
  private _shown = new DisposableSet();
  private _isDisposed = false;
}
