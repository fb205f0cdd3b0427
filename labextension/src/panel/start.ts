/**
 * Loaded with the first kernel that has jupyter_mcp: the panel, and everything beside it.
 */

import type { Parts } from '../commands/parts';
import { Wiring } from '../commands/wiring';
import { KernelLinks } from './links';
import { SidePanel } from './panel';

export interface Everything {
  links: KernelLinks;
  wiring: Wiring;
  panel: SidePanel;
}

/** Put it together. */
export function everything(given: Omit<Parts, 'links'>): Everything {
  const panel = new SidePanel();
  const links = new KernelLinks(given.notebooks, () => {
    given.app.shell.activateById(panel.id);
  });
  const wiring = new Wiring({ ...given, links });
  panel.addSection('Prompts', wiring.prompts.section());
  given.app.shell.add(panel, 'right', { rank: 700 });
  return { links, wiring, panel };
}
