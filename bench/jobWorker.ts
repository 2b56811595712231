/** A worker in a process of its own, which tells the bench when each of its jobs began; started by `jobs.ts`. */
import { readConfig } from '../src/config.ts';
import {
  connect,
  createLog,
  createSeal,
  type Drivers,
  readSecretKey,
  startWorker,
  systemActor,
  systemClock,
} from '../src/platform/index.ts';
import { sampled } from './jobs.ts';
import { nowMs } from './measure.ts';

const config = readConfig(process.env);
const url = process.env.BENCH_DATABASE ?? '';
const log = createLog('warn');
const ctx = {
  db: connect(url, { log, poolSize: 2 }),
  config,
  log,
  clock: systemClock,
  seal: createSeal(readSecretKey(config.dataDir, null)),
  reactions: new Map(),
  actor: systemActor,
  organizationId: null,
  requestId: null,
};
const note = sampled(async ({ payload }) => void process.send?.({ key: payload.key, atMs: nowMs() }));
const worker = startWorker(ctx, url, { sagas: [note], drivers: {} as Drivers });
process.send?.('ready');
process.once('SIGTERM', async () => {
  await worker.stop();
  await ctx.db.close();
  process.exit(0);
});
