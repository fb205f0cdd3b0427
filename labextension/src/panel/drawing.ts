/** Elements of the panel. Texts go in as text, whoever wrote them. */

/** A new element. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  named = '',
  text = ''
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (named !== '') {
    made.className = named;
  }
  if (text !== '') {
    made.textContent = text;
  }
  return made;
}

/** A small button. */
export function button(text: string, pressed: () => void): HTMLButtonElement {
  const made = element('button', 'jmcp-button', text);
  made.type = 'button';
  made.addEventListener('click', pressed);
  return made;
}
