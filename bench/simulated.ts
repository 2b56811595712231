/**
 * The product with simulated machines that tell the bench, over the line to their parent, when they are called.
 * A program of its own, started by `actions.ts`: the same composition as `src/main.ts`.
 */
import { readConfig } from '../src/config.ts';
import { type MachineSpec, simulatedHypervisor, simulatorStore } from '../src/drivers/hypervisor/index.ts';
import { baseUrlOf, startProduct } from '../src/product.ts';
import { nowMs } from './measure.ts';

/** From the product to the bench. */
export type Told = { call: string; id: string; atMs: number } | { done: string; atMs: number };
/** From the bench to the product. */
export type Asked = { fill: MachineSpec[] } | { guestShutsDown: string };

const config = readConfig(process.env);
const store = simulatorStore();
const capacity = {
  cpuCores: 10_000,
  memoryMib: 100_000_000,
  diskGib: 1_000_000,
  acceleration: 'none',
} as const;
const hypervisor = simulatedHypervisor({ store, capacity });
const tell = (told: Told) => void process.send?.(told);

/** The same machines; each power call says when it came. */
const watched = {
  ...hypervisor,
  start: (spec: MachineSpec) => {
    tell({ call: 'start', id: spec.id, atMs: nowMs() });
    return hypervisor.start(spec);
  },
  powerOff: (id: string) => {
    tell({ call: 'powerOff', id, atMs: nowMs() });
    return hypervisor.powerOff(id);
  },
};

process.on('message', (asked: Asked) => {
  const atMs = nowMs();
  if ('fill' in asked) {
    store.images.set('tiny', { kind: 'build', recipe: 'tiny' });
    for (const spec of asked.fill) store.machines.set(spec.id, machineOf(spec));
    tell({ done: 'fill', atMs });
  } else {
    hypervisor.guestShutsDown(asked.guestShutsDown);
    tell({ done: asked.guestShutsDown, atMs });
  }
});

function machineOf(spec: MachineSpec) {
  const identity = {
    hostname: spec.id,
    passwordHash: null,
    authorizedKeys: [],
    nameservers: [],
    userData: null,
  };
  const startedAtMs = Date.now() - 3_600_000;
  return { spec, hasDisk: true, identity, startedAtMs, bootedAtMs: startedAtMs };
}

const silent = { stage: () => undefined, say: () => undefined };
const product = await startProduct(config, silent, { drivers: { hypervisor: watched } });
process.on('SIGTERM', () => void product.stop().finally(() => process.exit(0)));
console.log(`Innkeeper is ready: ${baseUrlOf(config, product.port ?? 0)}/api `);
