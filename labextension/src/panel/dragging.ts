/** Something of the panel that a person drags over a notebook. */

import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';

/** How far the pointer goes before it is a drag and no click, in pixels. */
const FAR = 5;

/**
 * Let an element be dragged by the mouse. Its buttons stay buttons.
 *
 * @param carry the kind of what is carried, what it is, and what the person sees under the pointer.
 */
export function draggable(node: HTMLElement, carry: { kind: string; item: unknown; label: string }): void {
  node.addEventListener('mousedown', event => {
    if (event.button === 0 && !(event.target as HTMLElement).closest('button')) {
      event.preventDefault(); // no text is marked
      follow(event, carry);
    }
  });
}

function follow(down: MouseEvent, carry: { kind: string; item: unknown; label: string }): void {
  const stop = new AbortController();
  const { signal } = stop;
  const move = (event: MouseEvent): void => {
    if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > FAR) {
      stop.abort();
      void start(event, carry);
    }
  };
  document.addEventListener('mousemove', move, { capture: true, signal });
  document.addEventListener(
    'mouseup',
    () => {
      stop.abort();
    },
    { capture: true, signal }
  );
}

async function start(event: MouseEvent, carry: { kind: string; item: unknown; label: string }): Promise<void> {
  const mimeData = new MimeData();
  mimeData.setData(carry.kind, carry.item);
  const dragImage = document.createElement('div');
  dragImage.className = 'jmcp-dragged';
  dragImage.textContent = carry.label;
  const drag = new Drag({ mimeData, dragImage, supportedActions: 'copy', proposedAction: 'copy' });
  await drag.start(event.clientX, event.clientY);
  drag.dispose();
}
