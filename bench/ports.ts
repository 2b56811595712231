import { openSwitches } from '../src/drivers/switch/index.ts';
import { startSwitch } from '../test/rack/switch.ts';
import { ensureRackTree } from '../test/rack/tree.ts';
import { undo } from './house.ts';
import { nowMs, spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

/** Counters of many ports over SNMPv3, as they are read every five minutes: an `snmpd` that has so many, which shares two cores with us. */
export async function measurePorts({ rounds, ports }: { rounds: number; ports: number }): Promise<Figure[]> {
  const rack = await startSwitch(await ensureRackTree(), { morePorts: ports });
  undo.push(() => rack.close());
  const it = openSwitches()(rack.connection);
  undo.push(() => it.close());
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const beganMs = nowMs();
    const read = await it.readPorts({ timeoutMs: 60_000 });
    seconds.push((nowMs() - beganMs) / 1_000);
    const counted = read.ports.filter(({ counters }) => counters !== null).length;
    if (counted < ports) throw new Error(`${counted} of ${ports} ports were counted`);
  }
  return [
    {
      name: `${ports.toLocaleString('en')} ports’ counters over SNMPv3, signed and encrypted`,
      against: 'the clock',
      value: spreadOf(seconds),
      unit: 's',
      target: { atMost: 10 },
      amounts: 'one `snmpd` that has them all: names, speeds, states and 64-bit counters',
      limit: 'the agent, which looks its table up for each answer',
    },
  ];
}
