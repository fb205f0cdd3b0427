/**
 * The panel of the notebook in front: sections, one below the other, each with a heading that folds it.
 */

import { LabIcon } from '@jupyterlab/ui-components';
import { PanelLayout, Widget } from '@lumino/widgets';

import '../../style/panel.css';

export const PANEL_ID = 'jupyter-mcp-panel';

const icon = new LabIcon({
  name: 'jupyter-mcp-host:panel',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3 jp-icon-selectable" fill="#616161"
    d="M8 3v5H6v4a6 6 0 0 0 5 5.9V22h2v-4.1a6 6 0 0 0 5-5.9V8h-2V3h-2v5h-4V3zm0 7h8v2a4 4 0 0 1-8 0z"/>
</svg>`
});

export class SidePanel extends Widget {
  constructor() {
    super();
    this.id = PANEL_ID;
    this.addClass('jmcp-panel');
    this.title.icon = icon;
    this.title.caption = 'MCP';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'MCP');
    this.layout = this._sections;
  }

  /** Add a section below the others. It is hidden as long as its content is. */
  addSection(title: string, content: Widget): void {
    const section = new Widget({ node: document.createElement('details') });
    section.addClass('jmcp-panel-section');
    (section.node as HTMLDetailsElement).open = true;
    const heading = document.createElement('summary');
    heading.textContent = title;
    section.node.append(heading);
    const inside = new Inside();
    section.layout = inside;
    inside.addWidget(content);
    section.setHidden(content.isHidden);
    this._sections.addWidget(section);
  }

  private readonly _sections = new PanelLayout();
}

/** The inside of a section: it comes and goes with what it shows. */
class Inside extends PanelLayout {
  protected override onChildShown(): void {
    this.parent?.show();
  }

  protected override onChildHidden(): void {
    this.parent?.hide();
  }
}
