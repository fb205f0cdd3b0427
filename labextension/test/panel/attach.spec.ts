import { describe, expect, it, vi } from 'vitest';

import { ServerConnection } from '@jupyterlab/services';

import { attach } from '../../src/panel/attach';
import type { KernelLink } from '../../src/panel/link';

function link(request = vi.fn(() => Promise.resolve({}))): { link: KernelLink; request: ReturnType<typeof vi.fn> } {
  const kernel = { id: 'kernel-1', serverSettings: { baseUrl: 'https://hub.example/user/ada/' } };
  return { link: { kernel, notebook: 'work/a.ipynb', request } as unknown as KernelLink, request };
}

/** What the Jupyter Server answers; the addresses that it is asked at. */
function answers(response: Promise<unknown>): string[] {
  const asked: string[] = [];
  vi.spyOn(ServerConnection, 'makeRequest').mockImplementation((url: string) => {
    asked.push(url);
    return response as Promise<Response>;
  });
  return asked;
}

function said(ok: boolean, body: unknown): Promise<unknown> {
  return Promise.resolve({ ok, json: () => Promise.resolve(body) });
}

describe('a kernel is told how the browser sees its server', () => {
  it('with the page for logins where the server has one', async () => {
    const asked = answers(said(true, { callback: 'jupyter-mcp/oauth/callback' }));
    const { link: one, request } = link();
    await attach(one);
    expect(asked).toEqual(['https://hub.example/user/ada/jupyter-mcp/api/status']);
    expect(request).toHaveBeenCalledWith('attach', {
      base_url: 'https://hub.example/user/ada/',
      notebook: 'work/a.ipynb',
      kernel_id: 'kernel-1',
      callback: true
    });
  });

  it('without one where it is not there, or is something else', async () => {
    for (const response of [said(false, {}), said(true, []), Promise.reject(new Error('offline'))]) {
      answers(response);
      const { link: one, request } = link();
      await attach(one);
      expect(request.mock.calls[0]).toMatchObject(['attach', { callback: false }]);
    }
  });

  it('and one that does not answer is no error', async () => {
    answers(said(false, {}));
    const { link: one } = link(vi.fn(() => Promise.reject(new Error('gone'))));
    await expect(attach(one)).resolves.toBeUndefined();
  });
});
