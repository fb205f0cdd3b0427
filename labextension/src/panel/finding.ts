/**
 * Which notebooks' kernels have jupyter_mcp loaded. This much is there from the start; everything else is loaded with
 * the first that has.
 *
 * A kernel that loads the extension opens a comm; a page that comes later finds it in the kernel's list of comms, which
 * is asked for on the control channel, since the kernel may be computing.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';

import { record } from '../said';
import { ask } from './control';

export const TARGET = 'jupyter_mcp.panel';

/** What a kernel's status says when nothing that it knew is left. */
const GONE = new Set(['restarting', 'autorestarting', 'terminating', 'dead']);

export interface Finding {
  found: (panel: NotebookPanel, kernel: Kernel.IKernelConnection, comm: Kernel.IComm) => void;
  /** What was found in this notebook is no more. */
  lost: (panel: NotebookPanel) => void;
  /** The page has its way to the kernel again: what was said meanwhile was not heard. */
  again: (panel: NotebookPanel) => void;
}

/** Look at every notebook, now and later. */
export function findKernels(notebooks: INotebookTracker, finding: Finding): void {
  const watch = (panel: NotebookPanel): void => {
    const session = panel.sessionContext;
    session.kernelChanged.connect((_, { newValue }) => {
      finding.lost(panel);
      if (newValue !== null) {
        look(panel, newValue, finding);
      }
    });
    session.statusChanged.connect((_, status) => {
      if (GONE.has(status)) {
        finding.lost(panel);
      }
    });
    session.connectionStatusChanged.connect((_, status) => {
      if (status === 'connected') {
        finding.again(panel);
      }
    });
    panel.disposed.connect(() => {
      finding.lost(panel);
    });
    const kernel = session.session?.kernel;
    if (kernel) {
      look(panel, kernel, finding);
    }
  };
  notebooks.forEach(watch);
  notebooks.widgetAdded.connect((_, panel) => {
    watch(panel);
  });
}

function look(panel: NotebookPanel, kernel: Kernel.IKernelConnection, finding: Finding): void {
  kernel.registerCommTarget(TARGET, comm => {
    finding.found(panel, kernel, comm);
  });
  void comms(kernel).then(ids => {
    const id = ids[0];
    if (id !== undefined && !kernel.isDisposed && panel.sessionContext.session?.kernel === kernel) {
      finding.found(panel, kernel, kernel.hasComm(id) ? kernel.createComm(TARGET) : kernel.createComm(TARGET, id));
    }
  });
}

/** The ids of our comms that a kernel has; none when it does not say. */
async function comms(kernel: Kernel.IKernelConnection): Promise<string[]> {
  try {
    const said = await ask(kernel, 'comm_info_request', { target_name: TARGET });
    return Object.keys(record(said.comms));
  } catch {
    return []; // the kernel ended meanwhile
  }
}
