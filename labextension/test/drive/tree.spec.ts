import { describe, expect, it } from 'vitest';

import { FolderNames } from '../../src/drive/folders';
import { partsOf, safe, unused, withEnd } from '../../src/drive/names';
import { find, treeOf, type File, type Folder, type Resource } from '../../src/drive/tree';

function resource(uri: string, mimeType = ''): Resource {
  return { uri, mimeType, name: '', title: '', description: '', size: null, modified: '' };
}

function drive(...resources: Resource[]): Folder {
  return treeOf([{ folder: 'lab', server: 'lab', notebook: 'a.ipynb', resources }]);
}

function paths(folder: Folder): string[] {
  return [...folder.inside.values()].flatMap(one => (one.kind === 'file' ? [one.path] : paths(one)));
}

describe('a URI as folders', () => {
  it.each([
    ['file:///a/b.txt', ['file:', 'a', 'b.txt']],
    ['notes://today', ['notes:', 'today']],
    ['lab://runs/2027/march/readings.csv', ['lab:runs', '2027', 'march', 'readings.csv']],
    ['https://example.org:8080/a?b=c/d', ['https:example.org:8080', 'a?b=c', 'd']],
    ['urn:isbn:12', ['urn:', 'isbn:12']],
    ['no scheme', ['no scheme']],
    ['file:///a%20b/c%2Fd', ['file:', 'a b', 'c%2Fd']],
    ['x://host/', ['x:', 'host']],
    ['x://', ['x:', '_']],
    ['', ['_']]
  ])('reads %s', (uri, parts) => {
    expect(partsOf(uri)).toEqual(parts);
  });

  it('never leads to another folder', () => {
    for (const part of ['..', '.', '%2e%2e', '%2E', '..%2f..', '..\\..', '', '%00', ' ']) {
      const name = safe(part);
      expect(name).not.toMatch(/^\.*$/);
      expect(name).not.toMatch(/[/\\\0]/);
    }
  });

  it('shows no name that turns its direction or hides its end', () => {
    expect(safe('fdp\u202e.txt')).toBe('fdp\ufffd.txt');
    expect(safe('a\nb')).toBe('a\ufffdb');
    expect(safe(`${'x'.repeat(500)}.csv`)).toMatch(/^x+\u2026x+\.csv$/);
    expect(safe('100%')).toBe('100%');
  });
});

describe('the end of a name', () => {
  it.each([
    ['today', 'text/markdown', 'today.md'],
    ['today', 'text/markdown; charset=utf-8', 'today.md'],
    ['readings.csv', 'text/csv', 'readings.csv'],
    ['photo.JPEG', 'image/jpeg', 'photo.JPEG'],
    ['photo.html', 'image/png', 'photo.html.png'],
    ['fit.py', 'text/plain', 'fit.py'],
    ['note', 'text/plain', 'note.txt'],
    ['note', '', 'note.txt'],
    ['blob', 'application/x-own', 'blob'],
    ['work.ipynb', 'application/json', 'work.ipynb.json'],
    ['work.ipynb', 'application/x-ipynb+json', 'work.ipynb.json']
  ])('of %s with %s is %s', (name, kind, named) => {
    expect(withEnd(name, kind)).toBe(named);
  });

  it('comes after the number of a name that is taken', () => {
    expect(unused('a.csv', new Set(['a.csv', 'a (2).csv']))).toBe('a (3).csv');
    expect(unused('a', new Set(['a']))).toBe('a (2)');
  });
});

describe('the tree', () => {
  it('has a folder for each server, and in it folders by URI', () => {
    const top = treeOf([
      { folder: 'demo', server: 'demo', notebook: 'a.ipynb', resources: [resource('notes://today', 'text/markdown')] },
      { folder: 'empty', server: 'empty', notebook: 'a.ipynb', resources: [] }
    ]);
    expect([...top.inside.keys()]).toEqual(['demo', 'empty']);
    const file = find(top, 'demo/notes:/today.md') as File;
    expect(file.resource.uri).toBe('notes://today');
    expect(file.shelf.server).toBe('demo');
    expect(find(top, '/')).toBe(top);
    expect(find(top, 'demo/notes:')?.kind).toBe('folder');
    expect(find(top, 'demo/notes:/today.md/x')).toBeNull();
    expect(find(top, 'constructor')).toBeNull();
  });

  it('keeps apart what would have one path', () => {
    const top = drive(
      resource('a://x/y'),
      resource('a://x/y/z', 'text/csv'),
      resource('a://x/y'),
      resource('a://x//y')
    );
    expect(paths(top)).toEqual(['lab/a:x/y/z.csv', 'lab/a:x/y.txt', 'lab/a:x/y (2).txt', 'lab/a:x/y (3).txt']);
    const same = drive(resource('a://x/y/z'), resource('a://x/y', 'application/x-own'));
    expect(paths(same)).toEqual(['lab/a:x/y/z.txt', 'lab/a:x/y (2)']);
  });

  it('gives every resource a path that leads back to it, also a very deep one', () => {
    const deep = `d://h/${Array.from({ length: 40 }, (_, number) => String(number)).join('/')}`;
    const uris = [deep, 'x://..', 'x://../..', 'x:///../a', 'y', '', 'x://a/%2e%2e/b'];
    const top = drive(...uris.map(uri => resource(uri)));
    const found = paths(top).map(path => find(top, path) as File);
    expect(new Set(found.map(file => file.resource.uri))).toEqual(new Set(uris));
    expect(Math.max(...paths(top).map(path => path.split('/').length))).toBeLessThanOrEqual(14);
  });
});

describe('the folders of two notebooks', () => {
  it('stay whose they were', () => {
    const names = new FolderNames();
    expect(names.of('a.ipynb', 'demo')).toBe('demo');
    expect(names.of('sub/b.ipynb', 'demo')).toBe('demo (b.ipynb)');
    expect(names.of('other/b.ipynb', 'demo')).toBe('demo (other \u203a b.ipynb)');
    expect(names.of('sub/b.ipynb', 'more')).toBe('more');
    expect(names.of('a.ipynb', 'demo')).toBe('demo');
    expect(names.of('sub/b.ipynb', 'demo')).toBe('demo (b.ipynb)');
  });
});
