import { type Bmc, openBmcs, simulatedRack } from '../src/drivers/bmc/index.ts';
import { type RackBmc, startBmc } from '../test/rack/bmc.ts';
import { ensureRackTree } from '../test/rack/tree.ts';
import { undo } from './house.ts';
import { nowMs, spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

export interface BmcOptions {
  rounds: number;
  /** How many are polled, one in twenty of which is silent. */
  bmcs: number;
}

/** At once, as one worker would. */
const side = 32;
/** As long as a real one takes for an answer by way of `ipmitool`, its session included. */
const answerMs = 90;
/** After which one that says nothing is given up. */
const deadlineMs = 10_000;
/** Real BMCs without hardware, which share two cores with us. */
const real = 4;
const realCalls = 200;

/** Whether all servers of a provider are on, asked by one worker; and how many real calls this machine has room for. */
export async function measureBmcs({ rounds, bmcs }: BmcOptions): Promise<Figure[]> {
  return [await pollMany(rounds, bmcs), await callReal(rounds)];
}

async function pollMany(rounds: number, count: number): Promise<Figure> {
  const rack = simulatedRack();
  const open = openBmcs({ rack });
  const all = Array.from({ length: count }, (_, nth) => {
    const address = `10.0.${Math.floor(nth / 250)}.${1 + (nth % 250)}`;
    rack.put(address, { failing: nth % 20 === 7 ? { silent: 'before' } : { slowMs: answerMs } });
    return open({ kind: 'simulated', address, user: 'root', password: 'factory-1' });
  });
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const beganMs = nowMs();
    const { answered, silent } = await poll(all);
    seconds.push((nowMs() - beganMs) / 1000);
    if (silent !== count / 20 || answered + silent !== count)
      throw new Error(`${answered} answered, ${silent} did not`);
  }
  return {
    name: `${count.toLocaleString('en')} BMCs asked for power by one worker, 5 % of them silent`,
    against: 'the clock',
    value: spreadOf(seconds),
    unit: 's',
    target: { atMost: 60 },
    amounts: `simulated, ${answerMs} ms an answer, ${side} at once`,
    limit: `the silent ones, of which each takes its ${deadlineMs / 1000} s`,
  };
}

async function poll(all: readonly Bmc[]): Promise<{ answered: number; silent: number }> {
  let next = 0;
  let answered = 0;
  let silent = 0;
  const lane = async () => {
    for (let bmc = all[next++]; bmc !== undefined; bmc = all[next++])
      await bmc.readPower({ timeoutMs: deadlineMs }).then(
        () => {
          answered += 1;
        },
        () => {
          silent += 1;
        },
      );
  };
  await Promise.all(Array.from({ length: side }, lane));
  return { answered, silent };
}

/** A process a call, and each a session with its cryptography. */
async function callReal(rounds: number): Promise<Figure> {
  const tree = await ensureRackTree();
  const racks: RackBmc[] = [];
  undo.push(() => Promise.all(racks.map((each) => each.close())).then(() => undefined));
  for (let nth = 0; nth < real; nth += 1) racks.push(await startBmc(tree));
  const all = racks.map(({ ipmi, connection }) => openBmcs({ ipmi })(connection));
  await poll(all);
  const calls = Array.from({ length: realCalls }, (_, nth) => all[nth % real] as Bmc);
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const beganMs = nowMs();
    const { silent } = await poll(calls);
    if (silent > 0) throw new Error(`${silent} calls failed`);
    rates.push(realCalls / ((nowMs() - beganMs) / 1000));
  }
  return {
    name: 'Power read over IPMI, a process of `ipmitool` each',
    against: `${real} emulated BMCs on the same cores`,
    value: spreadOf(rates),
    unit: '/s',
    target: null,
    amounts: '1,000 in a minute are 17 a second',
    limit: 'starting a program, and BMCs that share its cores',
  };
}
