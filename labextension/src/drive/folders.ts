/**
 * Which folder of the drive is whose. Pure.
 *
 * Two notebooks may each have a server of the same name. A folder that was given stays given as long as the page is
 * open, so that a document that was opened from it is never read from another notebook's server.
 */

/** The folders that were given to servers of notebooks. */
export class FolderNames {
  /** The name of a server's folder; made at first use. */
  of(notebook: string, server: string): string {
    const key = JSON.stringify([notebook, server]);
    const known = this._given.get(key);
    if (known !== undefined) {
      return known;
    }
    const taken = new Set(this._given.values());
    let name = server;
    if (taken.has(name)) {
      name = `${server} (${notebook.split('/').pop() ?? notebook})`;
    }
    for (let number = 2; taken.has(name); number += 1) {
      name = `${server} (${notebook.replace(/\//g, ' \u203a ')}${number > 2 ? ` ${String(number)}` : ''})`;
    }
    this._given.set(key, name);
    return name;
  }

  private readonly _given = new Map<string, string>();
}
