/**
 * Loaded with the first kernel that has jupyter_mcp: the panel, and everything beside it.
 */

import { insertCell } from '../commands/cells';
import type { Link, Parts } from '../commands/parts';
import { Wiring } from '../commands/wiring';
import type { Waiting } from '../status/notices';
import { insertCall, takeCalls } from './calls';
import { CatalogueSection } from './catalogue';
import { ActivitySection } from './activity';
import { KernelLinks } from './links';
import { SidePanel } from './panel';
import { QuestionSection } from './questions';
import { RunningSection } from './running';
import { ServerSection } from './servers';
import { ServingSection } from './serving';

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
  const show = (question: Waiting): void => {
    wiring.status.show(question);
  };
  panel.addSection('Questions', new QuestionSection({ links, show }));
  const insert = (link: Link, source: string): void => {
    insertCell(link.panel, source);
  };
  panel.addSection('Servers', new ServerSection(links, insert));
  panel.addSection('Catalogue', new CatalogueSection({ links, insert: (...what): void => void insertCall(...what) }));
  takeCalls(given.notebooks);
  panel.addSection('Running', new RunningSection(links));
  panel.addSection('Prompts', wiring.prompts.section());
  panel.addSection('Serving', new ServingSection(links, insert));
  panel.addSection('Activity', new ActivitySection(links));
  given.app.shell.add(panel, 'right', { rank: 700 });
  return { links, wiring, panel };
}
