/**
 * What a resource is called in a tree of files. Pure.
 *
 * RULES
 *
 * - Names come from servers: nothing in one may lead to another folder, hide its end or turn its direction.
 * - JupyterLab chooses how to open a file by the end of its name, so the name ends as the resource's MIME type says.
 * - No resource opens as a notebook: that would start a kernel for what a server wrote.
 */

/** MIME type -> the ends that fit it; the first is the one that is given. */
const ENDS: Partial<Record<string, readonly [string, ...string[]]>> = {
  'application/geo+json': ['geojson'],
  'application/javascript': ['js', 'mjs'],
  'application/json': ['json', 'geojson', 'vl.json', 'vg.json'],
  'application/pdf': ['pdf'],
  'application/toml': ['toml'],
  'application/vnd.vega.v5+json': ['vg.json', 'vega'],
  'application/vnd.vegalite.v5+json': ['vl.json', 'vegalite'],
  'application/xml': ['xml'],
  'application/yaml': ['yaml', 'yml'],
  'image/bmp': ['bmp'],
  'image/gif': ['gif'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/png': ['png'],
  'image/svg+xml': ['svg'],
  'image/webp': ['webp'],
  'text/css': ['css'],
  'text/csv': ['csv'],
  'text/html': ['html', 'htm'],
  'text/javascript': ['js', 'mjs'],
  'text/markdown': ['md', 'markdown'],
  'text/tab-separated-values': ['tsv'],
  'text/x-python': ['py'],
  'text/xml': ['xml'],
  'text/yaml': ['yaml', 'yml']
};

/** Says nothing about what is in it, so a name that has an end keeps it. */
const VAGUE = new Set(['', 'text/plain', 'application/octet-stream', 'binary/octet-stream']);
const LONGEST = 120;

/** A MIME type without its parameters. */
export function bare(mimeType: string | null | undefined): string {
  return (mimeType ?? '').replace(/;[^]*/, '').trim().toLowerCase();
}

/** The folders and the name that a URI stands for: `file:///a/b.txt` is `file:`, `a`, `b.txt`. */
export function partsOf(uri: string): string[] {
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(uri)?.[0];
  if (scheme === undefined) {
    return [safe(uri)];
  }
  if (!uri.startsWith('//', scheme.length)) {
    return [scheme, safe(uri.slice(scheme.length))];
  }
  const rest = uri.slice(scheme.length + 2);
  const at = rest.search(/[/?#]/);
  const host = at < 0 ? rest : rest.slice(0, at);
  const path = at < 0 ? '' : rest.slice(at);
  const parts = path.split('/').filter(part => part !== '');
  if (parts.length === 0) {
    return [scheme, safe(host === '' ? path : host)];
  }
  return [host === '' ? scheme : `${scheme}${safe(host)}`, ...parts.map(safe)];
}

/** A name of one level: decoded where that changes no level, and with nothing in it that a person does not see. */
export function safe(part: string): string {
  let said = part;
  try {
    said = decodeURIComponent(part);
  } catch {
    // a stray percent sign: as it is written
  }
  if (/[/\\]/.test(said)) {
    said = part.replace(/[/\\]/g, '_');
  }
  said = said.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, '\u{FFFD}').trim();
  if (said === '' || /^\.+$/.test(said)) {
    return said === '' ? '_' : said.replace(/\./g, '\u2024'); // no "." or "..": they are folders
  }
  return said.length > LONGEST ? `${said.slice(0, LONGEST / 2)}\u2026${said.slice(-LONGEST / 2)}` : said;
}

/** A file's name that ends as its MIME type says. */
export function withEnd(name: string, mimeType: string | null | undefined): string {
  const kind = bare(mimeType);
  if (name.toLowerCase().endsWith('.ipynb')) {
    return `${name}.json`;
  }
  const ends = ENDS[kind];
  if (ends === undefined) {
    const typed = /\.[A-Za-z0-9]{1,10}$/.test(name);
    if (typed) {
      return name;
    }
    return VAGUE.has(kind) || kind.startsWith('text/') ? `${name}.txt` : name;
  }
  const lower = name.toLowerCase();
  return ends.some(end => lower.endsWith(`.${end}`)) ? name : `${name}.${ends[0]}`;
}

/** A name that none of `taken` has: "a (2)", "b (2).csv". */
export function unused(name: string, taken: { has: (name: string) => boolean }): string {
  if (!taken.has(name)) {
    return name;
  }
  const dot = name.lastIndexOf('.');
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 2; ; number += 1) {
    const other = `${stem} (${String(number)})${end}`;
    if (!taken.has(other)) {
      return other;
    }
  }
}
