import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { machineFiles } from './files.ts';
import type { Monitor } from './monitor.ts';
import { connectQmp } from './qmp.ts';
import { sampler } from './sample.ts';

const machineCount = 200;
const passes = 10;
/** A pass each ten seconds: five per cent of a core is half a second. A pass was measured to take 58 ms. */
const budgetMs = 500;

const dir = mkdtempSync(join(tmpdir(), 'iks-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Stands for the QEMU processes of many machines; its answers have the fields and the length of real ones. */
const peerProgram = `
const { createServer } = require('node:net');
const numbers = (prefix) => Object.fromEntries(Array.from({ length: 26 }, (_, i) => [prefix + '_operations_' + i, i * 1e6]));
const counters = { ...numbers('counter'), rd_bytes: 123456, wr_bytes: 654321 };
const layer = (name) => ({ parent: { stats: counters, 'node-name': name }, stats: counters, 'node-name': name });
const blocks = [{ device: '', ...layer('disk0'), backing: layer('image0') }, { device: '', ...layer('seed0') }];
const memory = { stats: { 'stat-total-memory': 60e6, 'stat-available-memory': 40e6, 'stat-swap-in': 18446744073709551615 } };
const answers = { 'query-blockstats': blocks, 'qom-get': memory };
let listening = 0;
for (let i = 0; i < ${machineCount}; i++) {
  createServer((socket) => {
    socket.write('{"QMP": {}}\\n');
    socket.on('error', () => undefined).setEncoding('utf8').on('data', (text) => {
      for (const line of text.split('\\n').filter(Boolean)) {
        const { execute, id } = JSON.parse(line);
        socket.write(JSON.stringify({ return: answers[execute] ?? {}, id }) + '\\n');
      }
    });
  }).listen('${dir}/' + i, () => ++listening === ${machineCount} && console.log('ready'));
}`;

it('takes less than a twentieth of a core for 200 machines, sampled every ten seconds', async () => {
  const size = ['-smp', '1', '-m', 'size=64M'];
  const peer = spawn(process.execPath, ['--eval', peerProgram, '--', ...size], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await new Promise((resolve) => peer.stdout.once('data', resolve));
    const pid = peer.pid ?? 0;
    const bridge = { name: 'iks', addresses: [], nat: false };
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const options = {
      dir,
      runDir: dir,
      netbootUrl: null,
      diskLimits: { iops: 0, mbPerSecond: 0 },
      bridge,
      log,
    };
    const monitors = await Promise.all(
      Array.from({ length: machineCount }, async (_, index): Promise<Monitor> => {
        const qmp = await connectQmp(join(dir, String(index)));
        return {
          files: machineFiles(options, `m-${index}`),
          pid,
          command: qmp.command,
          expectEnd: () => undefined,
          hangs: () => false,
          ended: qmp.closed,
          release: qmp.close,
        };
      }),
    );
    const { sample } = sampler();
    await sample(monitors); // the first look also asks what stays the same
    const before = process.cpuUsage();
    for (let pass = 0; pass < passes; pass++) {
      const samples = await sample(monitors);
      expect(samples).toHaveLength(machineCount);
      expect(samples[0]).toMatchObject({ id: 'm-0', diskReadBytes: 123_456, memoryUsedBytes: 20e6 });
    }
    const { user, system } = process.cpuUsage(before);
    const passMs = (user + system) / 1000 / passes;
    expect(passMs).toBeLessThan(budgetMs);
    for (const monitor of monitors) monitor.release();
  } finally {
    peer.kill();
  }
});
