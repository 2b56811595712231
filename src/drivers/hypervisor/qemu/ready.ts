import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, HypervisorError } from '../contract.ts';

const pauseMs = 60;
const attemptTimeoutMs = 1_000;

/** Waits until a machine's SSH server greets at `address`, port 22. `isAlive` is asked between attempts. */
export async function waitForSsh(
  address: string,
  deadline: Deadline,
  isAlive: () => Promise<boolean>,
): Promise<void> {
  const until = Date.now() + deadline.timeoutMs;
  for (;;) {
    deadline.signal?.throwIfAborted();
    if (await greets(address)) return;
    if (!(await isAlive()))
      throw new HypervisorError('machine_died', 'the machine ended before it was ready');
    if (Date.now() >= until) {
      throw new HypervisorError('ready_timeout', `no SSH at ${address} within ${deadline.timeoutMs} ms`);
    }
    await delay(pauseMs, undefined, { signal: deadline.signal });
  }
}

/** Whether the server says `SSH-` first, as RFC 4253 4.2 wants it; an open port alone says little. */
function greets(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: address, port: 22 });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(attemptTimeoutMs, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('data', (data) => finish(data.toString('latin1').startsWith('SSH-')));
  });
}
