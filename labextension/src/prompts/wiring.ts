/**
 * The prompts of open notebooks: read when their servers' lists change, offered for the notebook in front.
 */

import { Signal, type ISignal } from '@lumino/signaling';

import { selectedText } from '../commands/cells';
import type { Settings } from '../commands/settings';
import { say, sentenceOf, type Link, type Parts } from '../commands/parts';
import { text } from '../said';
import { follow } from '../panel/following';
import { PROMPT, PromptMenus } from './menus';
import { fullName, label, readPrompts, type Prompt } from './prompts';
import { PromptSection } from './section';

export class PromptWiring {
  constructor(parts: Parts, settings: Settings) {
    this._parts = parts;
    this._settings = settings;
    const { app, links, palette } = parts;
    app.commands.addCommand(PROMPT, {
      label: args => (typeof args.label === 'string' ? args.label : 'MCP prompt'),
      caption: 'Fill in the arguments of this prompt',
      execute: async args => {
        await this.open(text(args.server), text(args.name), args.selection === true);
      }
    });
    this._menus = new PromptMenus({ commands: app.commands, contextMenu: app.contextMenu, palette, label });
    links.changed.connect(() => {
      this._refresh();
    });
    settings.changed.connect(() => {
      this._draw();
    });
    this._refresh();
  }

  /** The prompts of the notebook in front are others. */
  get changed(): ISignal<this, undefined> {
    return this._changed;
  }

  /** The prompts of the notebook in front. */
  get prompts(): readonly Prompt[] {
    const link = this._parts.links.current;
    return (link === null ? undefined : this._read.get(link)?.prompts) ?? [];
  }

  /** A section for the panel, kept up to date as long as it is there. */
  section(): PromptSection {
    const section = new PromptSection({
      open: (prompt): void => {
        void this.open(prompt.server, prompt.name, false);
      },
      pin: (prompt, pinned): void => {
        void this._settings.pin(fullName(prompt), pinned);
      }
    });
    follow(section, this.changed, () => {
      section.draw(this.prompts, this._settings.pinned);
    });
    return section;
  }

  /** Open the form of a prompt of the notebook in front. */
  async open(server: string, name: string, withSelection: boolean): Promise<void> {
    const link = this._parts.links.current;
    const prompt = this.prompts.find(one => one.server === server && one.name === name);
    if (link === null || prompt === undefined) {
      say(`The notebook in front is connected to no server with a prompt ${server}.${name}.`);
      return;
    }
    const selection = withSelection ? selectedText(link.panel) : '';
    try {
      const { openPrompt } = await import('./open');
      await openPrompt({ prompt, panel: link.panel, request: link.request.bind(link), selection });
    } catch (error) {
      say(sentenceOf(error));
    }
  }

  private _refresh(): void {
    for (const link of this._parts.links.all) {
      const known = this._read.get(link);
      if (known?.revision !== link.revision) {
        this._read.set(link, { revision: link.revision, prompts: known?.prompts ?? [] });
        void this._ask(link, link.revision);
      }
    }
    this._draw();
  }

  private async _ask(link: Link, revision: string): Promise<void> {
    const prompts = await link.request('prompts').then(readPrompts, () => []);
    if (this._read.get(link)?.revision === revision) {
      this._read.set(link, { revision, prompts });
      this._draw();
    }
  }

  /** Offer them, when they are others than those that are offered. */
  private _draw(): void {
    const shown = JSON.stringify([this.prompts, this._settings.pinned]);
    if (shown !== this._shown) {
      this._shown = shown;
      this._menus.show(this.prompts);
      this._changed.emit(undefined);
    }
  }

  private readonly _parts: Parts;
  private readonly _settings: Settings;
  private readonly _menus: PromptMenus;
  private readonly _changed = new Signal<this, undefined>(this);
  private readonly _read = new WeakMap<Link, { revision: string; prompts: readonly Prompt[] }>();
  private _shown = '';
}
