/**
 * What a kernel said of its servers' resources, read. Pure: what does not look as agreed is left out.
 */

import { list, record, text } from '../said';
import type { FolderNames } from './folders';
import type { Resource, Shelf } from './tree';

/** What is in a resource. */
export interface Content {
  format: 'text' | 'base64';
  content: string;
  mimeType: string;
}

/** The shelves of one notebook. */
export function readShelves(said: unknown, notebook: string, names: FolderNames): Shelf[] {
  return list(record(said).servers).flatMap(one => {
    const { name, resources } = record(one);
    if (typeof name !== 'string' || name === '') {
      return [];
    }
    const found = list(resources).flatMap(readResource);
    return [{ folder: names.of(notebook, name), notebook, server: name, resources: found }];
  });
}

/** What is in a resource; throws when nothing can be made of it. */
export function readContent(said: unknown): Content {
  const { format, content, mime_type: mimeType } = record(said);
  if ((format !== 'text' && format !== 'base64') || typeof content !== 'string') {
    throw new Error('The kernel answered what this version does not understand.');
  }
  return { format, content, mimeType: text(mimeType) };
}

function readResource(said: unknown): Resource[] {
  const { uri, name, title, description, mimeType, size, modified } = record(said);
  if (typeof uri !== 'string') {
    return [];
  }
  const when = typeof modified === 'string' && !Number.isNaN(Date.parse(modified)) ? modified : '';
  return [
    {
      uri,
      name: text(name),
      title: text(title),
      description: text(description),
      mimeType: text(mimeType),
      size: typeof size === 'number' ? size : null,
      modified: when
    }
  ];
}
