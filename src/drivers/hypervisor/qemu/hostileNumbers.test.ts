import { expect, it } from 'vitest';
import type { Monitor } from './monitor.ts';
import { sampler } from './sample.ts';

/** A machine whose guest and whose QEMU say what they like; its process is ours. */
async function sampled(stats: unknown, blocks: unknown) {
  const answers: Record<string, unknown> = { 'qom-get': { stats }, 'query-blockstats': blocks };
  const monitor = {
    files: { id: 'm-1', tap: 'none' },
    pid: process.pid,
    command: async (name: string) => answers[name] ?? {},
  } as unknown as Monitor;
  return sampler(async () => ({ cpuCores: 1, memoryMib: 64 })).sample([monitor]);
}

const disk = (rd_bytes: unknown, wr_bytes: unknown) => [
  { 'node-name': 'disk0', stats: { rd_bytes, wr_bytes } },
];
const memory = (total: unknown, available: unknown) => ({
  'stat-total-memory': total,
  'stat-available-memory': available,
});

it.each([
  [memory(-1, 0), disk(-5, Number.NaN)],
  [memory(2 ** 64, 5), disk(2 ** 64, '7')],
  [memory(10, 2 ** 62), disk(1e308, [])],
  [memory('60', {}), disk(null, undefined)],
  [null, []],
  ['nonsense', [{}, { 'node-name': 'disk0' }]],
])('numbers that make no sense become none that do harm: %j', async (stats, blocks) => {
  const [sample] = await sampled(stats, blocks);
  expect(sample).toMatchObject({ diskReadBytes: 0, diskWrittenBytes: 0, memoryTotalBytes: 64 * 2 ** 20 });
  expect(sample?.memoryUsedBytes).toBeGreaterThanOrEqual(0);
  expect(sample?.memoryUsedBytes).toBeLessThanOrEqual(64 * 2 ** 20);
});

it('a guest that claims more memory than its machine has uses all of it', async () => {
  const [sample] = await sampled(memory(2 ** 50, 0), disk(1, 2));
  expect(sample).toMatchObject({ memoryUsedBytes: 64 * 2 ** 20, diskReadBytes: 1, diskWrittenBytes: 2 });
});

it('a machine that answers with something else than a list is left out', async () => {
  expect(await sampled(null, 7)).toEqual([]);
});
