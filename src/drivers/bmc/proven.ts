import { accountCalls } from './accounts.ts';
import { bootCalls } from './boot.ts';
import { boundedEvents, boundedSensors } from './bounded.ts';
import { type BmcConnection, defaultPorts } from './connection.ts';
import type { Bmc } from './contract.ts';
import type { BmcControls } from './controls.ts';
import { powerCalls } from './power.ts';
import { securityCalls } from './security.ts';
import { serialCalls } from './serial.ts';
import { talkTo } from './talk.ts';
import { until } from './turns.ts';

const identifyMs = 30_000;
/** Of a real one, each of dozens of sensors is a question of its own. */
const longReadMs = 60_000;

export interface ProvenOptions {
  /** How long `powerCycle` leaves the server off, in milliseconds. Default: 5000. */
  offForMs?: number;
}

/** The contract, of what an engine can say: in turn, within a deadline, and proved. */
export function provenBmc(
  controls: BmcControls,
  connection: BmcConnection,
  options: ProvenOptions = {},
): Bmc {
  const { kind, address, port = defaultPorts[kind], user, uuid = null } = connection;
  const key = `${address} port ${port}`;
  const talk = talkTo(controls, key, uuid);
  const own = { user, password: connection.password };
  const becomes = (password: string) => {
    own.password = password;
    controls.becomes(password);
  };
  const { letGo, openSerial } = serialCalls(talk, key);
  return {
    kind: controls.kind,
    capabilities: controls.capabilities,
    identify: ({ timeoutMs = identifyMs } = {}) =>
      talk.read(until(timeoutMs), (at, leftMs) => at.identify(leftMs)),
    ...powerCalls(talk, options.offForMs),
    ...bootCalls(talk),
    openSerial,
    showsSerial: ({ timeoutMs = identifyMs } = {}) =>
      talk.read(
        until(timeoutMs),
        async (at, leftMs) => at.capabilities.includes('serial') && at.showsSerial(leftMs),
      ),
    readSensors: ({ timeoutMs = longReadMs } = {}) =>
      talk.read(until(timeoutMs), async (at, leftMs) => boundedSensors(await at.readSensors(leftMs))),
    readEvents: ({ timeoutMs = longReadMs } = {}) =>
      talk.read(until(timeoutMs), async (at, leftMs) => boundedEvents(await at.readEvents(leftMs))),
    ...accountCalls(talk, user, becomes),
    ...securityCalls(talk, () => own),
    async close() {
      letGo();
      await controls.close();
    },
  };
}
