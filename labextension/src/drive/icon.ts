/** The drive's icon: a folder with a plug, in the colours of the theme. */

import { LabIcon } from '@jupyterlab/ui-components';

export const resourcesIcon = new LabIcon({
  name: 'jupyter-mcp-host:resources',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3 jp-icon-selectable" fill="#616161"
    d="M3 5h6l2 2h10v4h-2V9H5v8h6v2H3z"/>
  <path class="jp-icon3 jp-icon-selectable" fill="#616161"
    d="M15 12v2h-2v3a3 3 0 0 0 3 3v2h2v-2a3 3 0 0 0 3-3v-3h-2v-2h-1.5v2h-1v-2z"/>
</svg>`
});
