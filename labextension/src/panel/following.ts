/** A widget that is kept as something is, for as long as it is there. */

import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

/** Draw now, and whenever `changed` is emitted until the widget is disposed of. */
export function follow(widget: Widget, changed: ISignal<unknown, unknown>, draw: () => void): void {
  const slot = (): void => {
    draw();
  };
  changed.connect(slot);
  widget.disposed.connect(() => {
    changed.disconnect(slot);
  });
  draw();
}
