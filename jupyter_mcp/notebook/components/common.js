// What all components share. Text from outside becomes text nodes and attributes here, never HTML.

/** Make an element: attributes (null and false are left out), then children (strings become text). */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

let lastId = 0;

/** An id that no other element of the page has. */
function freshId(word) {
  lastId += 1;
  return `jmcp-${word}-${Date.now().toString(36)}-${lastId}`;
}
