/**
 * Messages on a kernel's control channel, which answers while a cell computes.
 */

import { KernelMessage, type Kernel } from '@jupyterlab/services';

import { record } from '../said';

/** How long an answer is waited for, in milliseconds. A server that thinks long is asked from a cell. */
export const PATIENCE = 120_000;

type Message = KernelMessage.IDebugRequestMsg; // JupyterLab's types know no message of others on this channel

/**
 * Send a message, and wait for the content of its reply.
 *
 * @param patience milliseconds.
 * @throws Error one sentence, when nothing has come in that time.
 */
export async function ask(
  kernel: Kernel.IKernelConnection,
  kind: string,
  content: Record<string, unknown>,
  patience = PATIENCE
): Promise<Record<string, unknown>> {
  const message = KernelMessage.createMessage<Message>({
    channel: 'control',
    msgType: kind as Message['header']['msg_type'],
    session: kernel.clientId,
    username: kernel.username,
    content: content as unknown as Message['content']
  });
  const future = kernel.sendControlMessage(message, true);
  let timer = 0;
  const late = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => {
      future.dispose();
      reject(new Error(`The kernel has not answered for ${String(Math.round(patience / 1000))} seconds.`));
    }, patience);
  });
  try {
    const reply: unknown = await Promise.race([future.done, late]);
    return record(record(reply).content);
  } finally {
    window.clearTimeout(timer);
  }
}
