/**
 * Tells a kernel how a browser sees its Jupyter Server, so that a login can come back by it.
 */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { record } from '../said';
import type { KernelLink } from './link';

const STATUS = 'jupyter-mcp/api/status';

/** Say it, once a link. A Jupyter Server without our extension is said to have no page for logins. */
export async function attach(link: KernelLink): Promise<void> {
  const settings = link.kernel.serverSettings;
  try {
    await link.request('attach', {
      base_url: new URL(settings.baseUrl, window.location.href).href,
      notebook: link.notebook,
      kernel_id: link.kernel.id,
      callback: await hasCallback(settings)
    });
  } catch {
    // a kernel that ends just now, or an older one: logins come back in other ways
  }
}

async function hasCallback(settings: ServerConnection.ISettings): Promise<boolean> {
  try {
    const response = await ServerConnection.makeRequest(URLExt.join(settings.baseUrl, STATUS), {}, settings);
    return response.ok && typeof record(await response.json()).callback === 'string';
  } catch {
    return false;
  }
}
