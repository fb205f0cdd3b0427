/**
 * What this extension adds to JupyterLab beside its panel, put together: prompts, the drive, the status bar, notices,
 * settings. Loaded when the first kernel with jupyter_mcp has been found, and not before.
 */

import { DriveWiring } from '../drive/wiring';
import { PromptWiring } from '../prompts/wiring';
import { StatusWiring } from '../status/wiring';
import { addCommands } from './palette';
import type { Parts } from './parts';
import { addRootCommand } from './roots';
import { Settings } from './settings';

/** Everything, alive as long as the page. */
export class Wiring {
  constructor(parts: Parts) {
    this.settings = new Settings(parts.settings, parts.links);
    this.prompts = new PromptWiring(parts, this.settings);
    this.drive = new DriveWiring(parts);
    this.status = new StatusWiring(parts, this.settings);
    addRootCommand(parts);
    addCommands(parts, this);
  }

  readonly settings: Settings;
  readonly prompts: PromptWiring;
  readonly drive: DriveWiring;
  readonly status: StatusWiring;
}
