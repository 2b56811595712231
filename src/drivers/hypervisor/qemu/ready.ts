import { setTimeout as delay } from 'node:timers/promises';
import { greetsBySsh } from '../../../platform/host/ssh.ts';
import { type Deadline, HypervisorError } from '../contract.ts';

const pauseMs = 60;

/** Waits until a machine's SSH server greets at `address`, port 22. `isAlive` is asked between attempts. */
export async function waitForSsh(
  address: string,
  deadline: Deadline,
  isAlive: () => Promise<boolean>,
): Promise<void> {
  const until = Date.now() + deadline.timeoutMs;
  for (;;) {
    deadline.signal?.throwIfAborted();
    if (await greetsBySsh(address)) return;
    if (!(await isAlive()))
      throw new HypervisorError('machine_died', 'the machine ended before it was ready');
    if (Date.now() >= until) {
      throw new HypervisorError('ready_timeout', `no SSH at ${address} within ${deadline.timeoutMs} ms`);
    }
    await delay(pauseMs, undefined, { signal: deadline.signal });
  }
}
