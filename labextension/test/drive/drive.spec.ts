import { describe, expect, it, vi } from 'vitest';

import type { ServerConnection } from '@jupyterlab/services';

import { ResourceDrive, type Kernel } from '../../src/drive/drive';

const PNG = btoa('\x89PNG\r\n\x1a\n');
const CONTENTS: Record<string, unknown> = {
  'notes://today': { format: 'text', content: '# Today\u00e9', mime_type: 'text/markdown', parts: 1 },
  'lab://chart': { format: 'base64', content: PNG, mime_type: 'image/png', parts: 1 }
};

/** A kernel that is connected to one server of two resources. */
function kernel(notebook: string, server = 'demo'): Kernel & { request: ReturnType<typeof vi.fn> } {
  const request = vi.fn((act: string, data?: Record<string, unknown>) => {
    if (act === 'resources') {
      const resources = [
        { uri: 'notes://today', mimeType: 'text/markdown', size: 8, modified: '2026-05-01T10:00:00Z' },
        { uri: 'lab://chart', mimeType: 'image/png', size: null, modified: 'yesterday' },
        { mimeType: 'no uri' }
      ];
      return Promise.resolve({ servers: [{ name: server, resources }, { name: 7 }, 'odd'] });
    }
    const found = CONTENTS[data?.uri as string];
    return found === undefined ? Promise.reject(new Error('gone')) : Promise.resolve(found);
  });
  return { notebook, request };
}

function drive(...kernels: Kernel[]): ResourceDrive {
  return new ResourceDrive({ kernels: (): Kernel[] => kernels, serverSettings: {} as ServerConnection.ISettings });
}

describe('the drive', () => {
  it('lists a folder for each server, and what is in it by URI', async () => {
    const found = drive(kernel('a.ipynb'));
    const top = await found.get('');
    expect(top.type).toBe('directory');
    expect((top.content as { name: string; type: string }[]).map(one => [one.name, one.type])).toEqual([
      ['demo', 'directory']
    ]);
    const server = await found.get('demo');
    expect((server.content as { name: string }[]).map(one => one.name)).toEqual(['notes:', 'lab:']);
    const notes = await found.get('demo/notes:');
    expect(notes.content).toEqual([
      {
        name: 'today.md',
        path: 'demo/notes:/today.md',
        type: 'file',
        writable: false,
        created: '',
        last_modified: '2026-05-01T10:00:00Z',
        mimetype: 'text/markdown',
        content: null,
        format: null,
        size: 8
      }
    ]);
  });

  it('reads a file from the kernel it stands in, by its URI', async () => {
    const [one, other] = [kernel('a.ipynb'), kernel('b.ipynb')];
    const found = drive(one, other);
    const file = await found.get('demo (b.ipynb)/notes:/today.md', { format: 'text' });
    expect([file.content, file.format, file.mimetype, file.writable]).toEqual([
      '# Today\u00e9',
      'text',
      'text/markdown',
      false
    ]);
    expect(file.last_modified).toBe('2026-05-01T10:00:00Z');
    expect(Number.isNaN(Date.parse(file.created))).toBe(false);
    expect(other.request).toHaveBeenLastCalledWith('resource_content', { server: 'demo', uri: 'notes://today' });
    expect(one.request).toHaveBeenCalledTimes(1);
  });

  it('gives a content in the form that a document asks for, or says that it cannot', async () => {
    const found = drive(kernel('a.ipynb'));
    expect((await found.get('demo/lab:/chart.png', { format: 'base64' })).content).toBe(PNG);
    const encoded = await found.get('demo/notes:/today.md', { format: 'base64' });
    expect(atob(encoded.content as string).slice(-2)).toBe('\xc3\xa9');
    await expect(found.get('demo/lab:/chart.png', { format: 'text' })).rejects.toThrow('This is no text');
    const head = await found.get('demo/lab:/chart.png', { content: false });
    expect([head.content, head.last_modified]).toEqual([null, '']);
  });

  it('asks again only after a change', async () => {
    const one = kernel('a.ipynb');
    const found = drive(one);
    await found.get('');
    await found.get('demo');
    expect(one.request).toHaveBeenCalledTimes(1);
    found.forget();
    await found.get('');
    expect(one.request).toHaveBeenCalledTimes(2);
  });

  it('goes on without a kernel that does not answer', async () => {
    const silent: Kernel = { notebook: 'b.ipynb', request: () => Promise.reject(new Error('dead')) };
    const top = await drive(silent, kernel('a.ipynb')).get('');
    expect((top.content as unknown[]).length).toBe(1);
  });

  it('says as a 404 that nothing stands at a path, so that the file browser goes on', async () => {
    const error: unknown = await drive(kernel('a.ipynb'))
      .get('demo/nothing')
      .catch((one: unknown): unknown => one);
    expect((error as { response: Response }).response.status).toBe(404);
    expect((error as Error).message).toContain('There is no resource at MCP:demo/nothing');
  });

  it('says whose notebook is closed, and reads from no other', async () => {
    const kernels = [kernel('a.ipynb'), kernel('b.ipynb')];
    const found = new ResourceDrive({
      kernels: (): Kernel[] => kernels,
      serverSettings: {} as ServerConnection.ISettings
    });
    await found.get('');
    kernels.pop();
    await expect(found.get('demo (b.ipynb)/notes:/today.md')).rejects.toThrow('b.ipynb, whose kernel');
  });

  it('refuses everything that would write', async () => {
    const found = drive(kernel('a.ipynb'));
    const acts = ['newUntitled', 'delete', 'rename', 'save', 'copy', 'createCheckpoint', 'restoreCheckpoint'] as const;
    for (const act of acts) {
      await expect((found[act] as () => Promise<unknown>)()).rejects.toThrow('can only be read');
    }
    expect(await found.listCheckpoints()).toEqual([]);
  });
});
