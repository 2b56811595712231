import { setTimeout as delay } from 'node:timers/promises';
import type { Bmc, ServerPower } from './contract.ts';
import type { Press } from './controls.ts';
import { BmcError } from './failure.ts';
import { becomesSo, proved, type Talk } from './talk.ts';
import { type Until, until } from './turns.ts';

const readMs = 20_000;
const changeMs = 40_000;
/** Power supplies hold for a while. */
const offForMs = 5_000;

type PowerCalls = Pick<Bmc, 'readPower' | 'powerOn' | 'shutDown' | 'powerOff' | 'powerCycle' | 'reset'>;

/** What is done with a server's power, each proved by reading it back. `pauseMs`: how long a cycle leaves it off. */
export function powerCalls(talk: Talk, pauseMs = offForMs): PowerCalls {
  const read = (deadline: Until) => talk.read(deadline, (at, leftMs) => at.readPower(leftMs));
  const is = (power: ServerPower, deadline: Until) => async () => (await read(deadline)) === power;
  const press = (what: Press, deadline: Until) =>
    talk.change(deadline, (at, leftMs) => at.press(what, leftMs));

  async function switchTo(power: ServerPower, deadline: Until): Promise<void> {
    if ((await read(deadline)) === power) return;
    await proved(deadline, {
      act: () => press(power, deadline),
      isSo: is(power, deadline),
      otherwise: `the BMC says that it switched the server ${power}, and it is not`,
    });
  }

  return {
    readPower: ({ timeoutMs = readMs } = {}) => read(until(timeoutMs)),
    powerOn: ({ timeoutMs = changeMs } = {}) => switchTo('on', until(timeoutMs)),
    powerOff: ({ timeoutMs = changeMs } = {}) => switchTo('off', until(timeoutMs)),
    async powerCycle({ timeoutMs = 2 * changeMs } = {}) {
      const deadline = until(timeoutMs);
      await switchTo('off', deadline);
      await delay(pauseMs);
      await switchTo('on', deadline);
    },
    async shutDown({ timeoutMs }) {
      const deadline = until(timeoutMs);
      if ((await read(deadline)) === 'off') return;
      const failure = await press('button', deadline).then(
        () => null,
        (error: unknown) => error,
      );
      if (failure instanceof BmcError && !failure.waits) throw failure;
      if (await becomesSo(deadline, is('off', deadline))) return;
      throw failure ?? new BmcError('shutdown_timeout', 'the server did not follow its power button in time');
    },
    async reset({ timeoutMs = changeMs } = {}) {
      const deadline = until(timeoutMs);
      if ((await read(deadline)) === 'off')
        throw new BmcError('not_running', 'the server is off: there is nothing to reset');
      await press('reset', deadline);
      if (await becomesSo(deadline, is('on', deadline))) return;
      throw new BmcError('nothing_happened', 'the server is off after its reset');
    },
  };
}
