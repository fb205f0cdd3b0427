/**
 * Resources as folders and files: a folder for each server, in it folders by URI. Pure.
 *
 * A path leads to a URI only through the tree, never by reading the path backwards: what a server calls its resources
 * decides what a file is called, not what is read.
 */

import { partsOf, unused, withEnd } from './names';

/** Levels below a server; what lies deeper is one name. */
const DEEPEST = 12;

/** A resource as the kernel lists it. */
export interface Resource {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: string;
  /** Bytes; null when the server does not say. */
  size: number | null;
  /** ISO 8601; "" when the server does not say. */
  modified: string;
}

/** What one server of one notebook offers. */
export interface Shelf {
  /** The folder's name. */
  folder: string;
  /** The notebook whose kernel is connected to it. */
  notebook: string;
  server: string;
  resources: readonly Resource[];
}

export interface File {
  kind: 'file';
  name: string;
  path: string;
  shelf: Shelf;
  resource: Resource;
}

export interface Folder {
  kind: 'folder';
  name: string;
  path: string;
  /** Null at the top. */
  shelf: Shelf | null;
  inside: Map<string, Folder | File>;
}

/** The whole drive. */
export function treeOf(shelves: readonly Shelf[]): Folder {
  const top = folder('', '', null);
  for (const shelf of shelves) {
    const its = folder(shelf.folder, shelf.folder, shelf);
    top.inside.set(shelf.folder, its);
    const placed = shelf.resources.map(resource => ({ resource, parts: partsOf(resource.uri) }));
    for (const { parts } of placed) {
      foldersFor(its, parts); // before the files, so that a folder keeps its name
    }
    for (const { resource, parts } of placed) {
      put(its, resource, parts);
    }
  }
  return top;
}

/** What stands at a path; null when nothing does. */
export function find(top: Folder, path: string): Folder | File | null {
  let at: Folder | File = top;
  for (const part of path.split('/').filter(one => one !== '')) {
    const next: Folder | File | undefined = at.kind === 'folder' ? at.inside.get(part) : undefined;
    if (next === undefined) {
      return null;
    }
    at = next;
  }
  return at;
}

function folder(name: string, path: string, shelf: Shelf | null): Folder {
  return { kind: 'folder', name, path, shelf, inside: new Map() };
}

function foldersFor(top: Folder, parts: readonly string[]): Folder {
  let at = top;
  for (const part of parts.slice(0, -1).slice(0, DEEPEST)) {
    const there = at.inside.get(part);
    const next = there?.kind === 'folder' ? there : folder(part, `${at.path}/${part}`, top.shelf);
    at.inside.set(part, next);
    at = next;
  }
  return at;
}

function put(top: Folder, resource: Resource, parts: readonly string[]): void {
  const at = foldersFor(top, parts);
  const rest = parts.slice(Math.min(parts.length - 1, DEEPEST)).join(' ');
  const name = unused(withEnd(rest, resource.mimeType), at.inside);
  const shelf = top.shelf;
  if (shelf !== null) {
    at.inside.set(name, { kind: 'file', name, path: `${at.path}/${name}`, shelf, resource });
  }
}
