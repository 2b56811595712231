import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type EdgeNetwork, edgeNetwork } from '../suite/network.testbed.ts';
import { type Asker, openAsker } from './asker.ts';
import { countedAtMost, table } from './base.ts';
import { readCounters } from './counters.ts';
import { eachCount } from './elements.ts';
import { kernel } from './kernel.ts';
import { readTraffic } from './read.ts';

let network: EdgeNetwork;
let asker: Asker;
beforeAll(async () => {
  network = await edgeNetwork();
  asker = openAsker(network.inside);
  const counted = Array.from(
    { length: 5_000 },
    (_, nth) =>
      `10.9.${nth >> 8}.${nth & 255} . ${nth & 65_535} counter packets ${nth} bytes ${nth * 2 ** 33}`,
  );
  const at = `inet ${table}`;
  await kernel(network.inside).load(
    [
      `add table ${at}`,
      `add set ${at} four { type ipv4_addr . inet_service; counter; }`,
      `add element ${at} four { ${counted.join(', ')} }`,
      `add set ${at} six { type ipv6_addr; counter; }`,
      `add element ${at} six { 2001:db8::7 counter packets 3 bytes 180 }`,
      `add chain ${at} c`,
      `add rule ${at} c counter packets 7 bytes 8 comment "1"\n`,
    ].join('\n'),
  );
});
afterAll(async () => {
  await asker?.close();
  await network?.close();
});

const four = { of: 'inet', name: 'four', family: 4, numberBytes: 2 } as const;

async function fours(): Promise<string[]> {
  const seen: string[] = [];
  await eachCount(asker, four, (...count) => seen.push(count.join(' ')));
  return seen.toSorted();
}

it('each element of a set is shown once with what it has counted, however many questions there are', async () => {
  const wanted = Array.from(
    { length: 5_000 },
    (_, nth) => `10.9.${nth >> 8}.${nth & 255} ${nth & 65_535} ${nth} ${nth * 2 ** 33}`,
  ).toSorted();
  const [one, rules, other] = await Promise.all([
    fours(),
    readCounters(asker, 'inet', ['c', 'none']),
    fours(),
  ]);
  expect(one).toEqual(wanted);
  expect(other).toEqual(wanted);
  expect(Object.fromEntries(rules)).toEqual({ c: [{ comment: '1', packets: 7, bytes: 8 }] });
  const six: unknown[] = [];
  await eachCount(asker, { of: 'inet', name: 'six', family: 6, numberBytes: 0 }, (...count) =>
    six.push(count),
  );
  expect(six).toEqual([['2001:db8::7', null, 3, 180]]);
});

it('a set, a table or a family that there is not has none', async () => {
  const nowhere = [
    { ...four, name: 'gone' },
    { ...four, of: 'bridge' },
  ] as const;
  for (const set of nowhere)
    await eachCount(asker, set, () => {
      throw new Error('it was shown something');
    });
});

it('a set that has no room for more is said to be full, and what is in it is told', async () => {
  const of = 'inet' as const;
  const flood = Array.from(
    { length: countedAtMost },
    (_, nth) => `10.${64 + (nth >> 16)}.${(nth >> 8) & 255}.${nth & 255}`,
  );
  const tables = kernel(network.inside);
  const lines = [
    `add set ${of} ${table} syn4 { type ipv4_addr; size ${countedAtMost}; flags dynamic,timeout; timeout 5m; counter; }`,
    `add set ${of} ${table} fragment4 { type ipv4_addr; size ${countedAtMost}; flags dynamic,timeout; timeout 5m; counter; }`,
    `add element ${of} ${table} syn4 { ${flood.join(', ')} }`,
    `add element ${of} ${table} fragment4 { ${flood.slice(1).join(', ')} }`,
  ];
  await tables.load(`${lines.join('\n')}\n`);
  const { addresses, full } = await readTraffic(tables, [of]);
  expect([addresses.length, full]).toEqual([2 * countedAtMost - 1, ['syn']]);
  await tables.load(`delete set ${of} ${table} syn4\ndelete set ${of} ${table} fragment4\n`);
  await tables.close();
});

it('who asks is told when the program was killed, and the next question begins another', async () => {
  await fours();
  const [first = 0] = askers();
  process.kill(first, 'SIGSTOP');
  const hanging = fours();
  process.kill(first, 'SIGKILL');
  await expect(hanging).rejects.toMatchObject({ code: 'edge_refused' });
  expect(await fours()).toHaveLength(5_000);
  expect(askers()).not.toContain(first);
});

it('nothing of it is left when it is closed, nor when nobody asks for a while', async () => {
  await fours();
  expect(askers()).toHaveLength(1);
  await asker.close();
  expect(askers()).toEqual([]);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    asker = openAsker(network.inside);
    await fours();
    vi.advanceTimersByTime(9_000);
    expect(await fours()).toHaveLength(5_000);
    vi.advanceTimersByTime(9_000);
    expect(askers()).toHaveLength(1);
    vi.advanceTimersByTime(1_000);
  } finally {
    vi.useRealTimers();
  }
  await expect.poll(askers).toEqual([]);
});

it('keeps no process from ending that has its answers', async () => {
  const script = `
    import { openAsker, dumpOf } from ${JSON.stringify(new URL('./asker.ts', import.meta.url).href)};
    const asker = openAsker((argv) => ${JSON.stringify(network.inside([]))}.concat(argv));
    console.log((await asker.ask(dumpOf(0x0a0d, 'inet', [[1, '${table}'], [2, 'four']]))).length);`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 8_000 });
  expect(Number(said)).toBeGreaterThan(100_000);
});

/** Programs that ask in this network; those of files that ran here before ask in others. */
function askers(): number[] {
  const [name = ''] = network.inside([]).slice(-1);
  const here = `net:[${statSync(`/run/netns/${name}`).ino}]`;
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const isHere = readlinkSync(`/proc/${pid}/ns/net`) === here;
        return isHere && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('QUESTION:');
      } catch {
        return false; // it has ended
      }
    })
    .map(Number);
}
