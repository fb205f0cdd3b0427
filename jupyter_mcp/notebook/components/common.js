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

/**
 * Put a text onto the clipboard; whether that worked. A page at http://some-host has none: there a selected text area is
 * copied, which any browser can. HTML of cards has this very function in its handlers (`components.function`).
 */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const area = document.createElement("textarea");
    area.style.cssText = "position:fixed;opacity:0";
    area.setAttribute("aria-hidden", "true");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    focused?.focus?.();
    return done;
  }
}

let lastId = 0;

/** An id that no other element of the page has. */
function freshId(word) {
  lastId += 1;
  return `jmcp-${word}-${Date.now().toString(36)}-${lastId}`;
}
