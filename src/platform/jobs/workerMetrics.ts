import { Counter, Gauge, type Registry } from 'prom-client';
import { queues, type Slots } from './queues.ts';
import type { Worker } from './worker.ts';

/** What the worker of this process does at the moment, for its own /metrics. */
export function watchWorker(worker: Worker, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'innkeeper_worker_alive',
    help: 'Whether the worker of this process holds its lock and looks for jobs (1) or not (0).',
    registers,
    collect() {
      this.set(worker.isAlive() ? 1 : 0);
    },
  });
  const byQueue = (name: string, help: string, count: () => Slots) =>
    new Gauge({
      name,
      help,
      labelNames: ['queue'],
      registers,
      collect() {
        for (const queue of queues) this.set({ queue }, count()[queue]);
      },
    });
  byQueue(
    'innkeeper_worker_jobs_running',
    'Jobs that the worker of this process runs at the moment.',
    () => worker.counts().running,
  );
  byQueue(
    'innkeeper_worker_slots',
    'Jobs that the worker of this process can run side by side.',
    () => worker.counts().slots,
  );
  new Counter({
    name: 'innkeeper_worker_stumbles_total',
    help: 'Times that the worker of this process could not look for jobs, or had to drop one.',
    registers,
    collect() {
      this.reset();
      this.inc(worker.counts().stumbles);
    },
  });
}
