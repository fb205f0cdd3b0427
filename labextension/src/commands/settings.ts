/**
 * The person's settings: kernels are told of the defaults once, pins and notices are read here.
 */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal, type ISignal } from '@lumino/signaling';

import { list, record, text } from '../said';
import { say, sentenceOf, type Link, type Links } from './parts';

export class Settings {
  constructor(settings: ISettingRegistry.ISettings | null, links: Links) {
    this._settings = settings;
    settings?.changed.connect(() => {
      this._changed.emit(undefined);
    });
    const tell = (): void => {
      for (const link of links.all) {
        if (!this._told.has(link)) {
          this._told.add(link);
          void this.apply(link, false);
        }
      }
    };
    links.changed.connect(tell);
    tell();
  }

  get changed(): ISignal<this, undefined> {
    return this._changed;
  }

  /** Full names of pinned prompts. */
  get pinned(): string[] {
    return list(this._value('pinnedPrompts')).map(text).filter(Boolean);
  }

  /** Whether questions out of sight are said. */
  get notifies(): boolean {
    return this._value('notifyOfQuestions') !== false;
  }

  /** Pin a prompt, or take its pin away. */
  async pin(name: string, pinned: boolean): Promise<void> {
    const others = this.pinned.filter(one => one !== name);
    await this._settings?.set('pinnedPrompts', pinned ? [...others, name] : others);
  }

  /** Tell a kernel of the defaults. A kernel that was told before does nothing, unless it is `again`. */
  async apply(link: Link, again: boolean): Promise<void> {
    const asked = {
      servers: this._value('defaultServers') ?? {},
      policy: text(this._value('defaultPolicy')),
      model: text(this._value('defaultModel')),
      again
    };
    const nothing = Object.keys(asked.servers).length === 0 && asked.model === '';
    if (nothing && (asked.policy === '' || asked.policy === 'usual') && !again) {
      return;
    }
    try {
      const said = record(await link.request('defaults', asked));
      for (const problem of list(said.problems)) {
        say(text(problem));
      }
      const connected = list(said.connected).map(text);
      if (connected.length > 0) {
        say(`Connected by default in ${link.notebook}: ${connected.join(', ')}`, 'info');
      }
    } catch (error) {
      say(sentenceOf(error));
    }
  }

  private _value(name: string): unknown {
    return this._settings?.get(name).composite;
  }

  private readonly _settings: ISettingRegistry.ISettings | null;
  private readonly _changed = new Signal<this, undefined>(this);
  private readonly _told = new WeakSet<Link>();
}
