/**
 * The resources of connected servers as a drive of JupyterLab that can only be read.
 *
 * RULES
 *
 * - What stands where is asked of the kernels at the first look and after a change that one of them told, not on a clock.
 * - A kernel that does not answer takes its folders away; it does not take away the others'.
 * - Nothing is written: every act that would is refused in one sentence, and nobody is asked.
 */

import type { Contents, ServerConnection } from '@jupyterlab/services';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { FolderNames } from './folders';
import { bare } from './names';
import { readContent, readShelves, type Content } from './reading';
import { find, treeOf, type File, type Folder, type Shelf } from './tree';

export const DRIVE = 'MCP';

/** The kernel of a notebook, as far as the drive is concerned. */
export interface Kernel {
  /** The notebook's path. */
  readonly notebook: string;
  /** Rejects with one sentence for people. */
  request: (act: string, data?: Record<string, unknown>) => Promise<unknown>;
}

export interface DriveOptions {
  /** The kernels there are now. */
  kernels: () => readonly Kernel[];
  serverSettings: ServerConnection.ISettings;
}

export class ResourceDrive implements Contents.IDrive {
  constructor(options: DriveOptions) {
    this._kernels = options.kernels;
    this.serverSettings = options.serverSettings;
  }

  readonly name = DRIVE;
  readonly serverSettings: ServerConnection.ISettings;

  get fileChanged(): ISignal<this, Contents.IChangedArgs> {
    return this._fileChanged;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** What stands where may be another: it is asked for at the next look. */
  forget(): void {
    this._tree = null;
  }

  /** What stands at a path of this drive; null when nothing does. */
  async find(path: string): Promise<Folder | File | null> {
    this._tree ??= this._look();
    return find(await this._tree, path);
  }

  async get(path: string, options: Contents.IFetchOptions = {}): Promise<Contents.IModel> {
    const found = await this.find(path);
    if (found === null) {
      throw notFound(path);
    }
    if (found.kind === 'folder') {
      return folderModel(found, options.content !== false);
    }
    if (options.content === false) {
      return fileModel(found);
    }
    const read = await this._read(found);
    const now = new Date().toISOString(); // a document has to have a date
    const dates = { created: now, last_modified: found.resource.modified || now };
    return { ...fileModel(found), ...dates, ...asked(read, options.format ?? null), mimetype: kindOf(found, read) };
  }

  /** An address that holds the bytes themselves; it is good as long as the page. */
  async getDownloadUrl(path: string): Promise<string> {
    const found = await this.find(path);
    if (found?.kind !== 'file') {
      throw notFound(path);
    }
    const read = await this._read(found);
    const bytes = read.format === 'text' ? new TextEncoder().encode(read.content) : fromBase64(read.content);
    return URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  }

  newUntitled(): Promise<Contents.IModel> {
    return refused();
  }

  delete(): Promise<void> {
    return refused();
  }

  rename(): Promise<Contents.IModel> {
    return refused();
  }

  save(): Promise<Contents.IModel> {
    return refused();
  }

  copy(): Promise<Contents.IModel> {
    return refused();
  }

  createCheckpoint(): Promise<Contents.ICheckpointModel> {
    return refused();
  }

  listCheckpoints(): Promise<Contents.ICheckpointModel[]> {
    return Promise.resolve([]);
  }

  restoreCheckpoint(): Promise<void> {
    return refused();
  }

  deleteCheckpoint(): Promise<void> {
    return refused();
  }

  private async _look(): Promise<Folder> {
    const kernels = this._kernels();
    const said = await Promise.allSettled(kernels.map(kernel => kernel.request('resources')));
    const shelves: Shelf[] = kernels.flatMap((kernel, at) => {
      const one = said[at];
      return one?.status === 'fulfilled' ? readShelves(one.value, kernel.notebook, this._names) : [];
    });
    return treeOf(shelves);
  }

  private async _read(file: File): Promise<Content> {
    const kernel = this._kernels().find(one => one.notebook === file.shelf.notebook);
    if (kernel === undefined) {
      throw new Error(
        `${file.shelf.notebook}, whose kernel is connected to ${file.shelf.server}, is not open any more.`
      );
    }
    const { server } = file.shelf;
    return readContent(await kernel.request('resource_content', { server, uri: file.resource.uri }));
  }

  private readonly _kernels: () => readonly Kernel[];
  private readonly _names = new FolderNames();
  private readonly _fileChanged = new Signal<this, Contents.IChangedArgs>(this);
  private _tree: Promise<Folder> | null = null;
  private _isDisposed = false;
}

function folderModel(folder: Folder, content: boolean): Contents.IModel {
  const inside = [...folder.inside.values()].map(one =>
    one.kind === 'file' ? fileModel(one) : folderModel(one, false)
  );
  return {
    name: folder.name,
    path: folder.path,
    type: 'directory',
    writable: false,
    created: '',
    last_modified: '',
    mimetype: '',
    content: content ? inside : null,
    format: 'json'
  };
}

function fileModel(file: File): Contents.IModel {
  return {
    name: file.name,
    path: file.path,
    type: 'file',
    writable: false,
    created: '',
    last_modified: file.resource.modified,
    mimetype: bare(file.resource.mimeType),
    content: null,
    format: null,
    ...(file.resource.size === null ? {} : { size: file.resource.size })
  };
}

/** The content in the form that a document asks for; as it is, when it cannot be had in that form. */
function asked(read: Content, format: Contents.FileFormat): { format: Contents.FileFormat; content: string } {
  if (format === 'base64' && read.format === 'text') {
    return { format, content: toBase64(new TextEncoder().encode(read.content)) };
  }
  if (format === 'text' && read.format === 'base64') {
    try {
      return { format, content: new TextDecoder('utf-8', { fatal: true }).decode(fromBase64(read.content)) };
    } catch {
      throw new Error('This is no text. Open it with a viewer, or read it in a cell.');
    }
  }
  return { format: read.format, content: read.content };
}

function kindOf(file: File, read: Content): string {
  return bare(file.resource.mimeType) || bare(read.mimeType);
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) {
    bytes[at] = binary.charCodeAt(at);
  }
  return bytes;
}

/** As JupyterLab's own drive says it, so that the file browser goes back to where there is something. */
function notFound(path: string): Error {
  const said = `There is no resource at ${DRIVE}:${path} now: its server or its notebook may be closed.`;
  return Object.assign(new Error(said), { response: new Response(null, { status: 404 }) });
}

function refused(): Promise<never> {
  return Promise.reject(new Error('Resources of MCP servers can only be read.'));
}
