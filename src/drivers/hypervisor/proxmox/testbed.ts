import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GuestIdentity, Hypervisor, MachineSpec } from '../contract.ts';
import { writeEmptyQcow2 } from '../formats/emptyQcow2.ts';
import { certificates, type Identity } from '../incus/standIn.testbed.ts';
import type { ManagedDriverUnderTest } from '../managementConformance.ts';
import { proxmoxHypervisor } from './driver.ts';
import type { ProxmoxOptions } from './options.ts';
import { end } from './standIn/machines.testbed.ts';
import { proxmoxStandIn, type StandIn } from './standIn/server.testbed.ts';
import { emptyState, type State, tokenId, tokenSecret, type Vm } from './standIn/state.testbed.ts';

/** A cluster that is none, for a test file, and drivers that speak to it. */
export interface ProxmoxBed {
  stand: StandIn;
  state: State;
  options: ProxmoxOptions;
  open(more?: Partial<ProxmoxOptions>): Hypervisor;
  spec(number: number): MachineSpec;
  identity: GuestIdentity;
  vm(id: string): Vm | undefined;
  underTest(): ManagedDriverUnderTest;
  remove(): void;
}

const hash = '$6$salt$Xh0O9P1nS2m3L4k5J6h7G8f9D0s1A2q3W4e5R6t7Y8u9I0o1P2a3S4d5F6g7H8';

export function fingerprintOf({ certificate }: Identity): string {
  return new X509Certificate(certificate).fingerprint256;
}

/** Why the suites cannot run here, in one line; null when they can: guests answer on port 22 of this host. */
export async function reasonWithoutGuests(): Promise<string | null> {
  const server = createServer();
  const failure = await new Promise<Error | null>((resolve) => {
    server.once('error', resolve).listen(22, '127.77.41.250', () => resolve(null));
  });
  server.close();
  return failure === null ? null : `nobody here may listen on port 22: ${failure.message}`;
}

/** `network` tells test files apart that run side by side: guests answer on SSH at 127.77.<network>.x of this host. */
export async function proxmoxBed(network: number): Promise<ProxmoxBed> {
  const dir = mkdtempSync(join(tmpdir(), 'ikp-'));
  const keys = await certificates();
  const state = emptyState();
  const stand = await proxmoxStandIn(keys.cluster, state);
  const image = { slug: 'made', kind: 'build', recipe: 'made' } as const;
  await makeImage(dir, image);
  const options: ProxmoxOptions = {
    endpoints: [stand.url],
    fingerprints: [fingerprintOf(keys.cluster)],
    ...{ tokenId, tokenSecret, pool: 'innkeeper', vmids: { first: 9_000, last: 9_099 } },
    ...{ storage: 'local-lvm', files: 'files', bridge: 'vmbr0', node: null, imagesDir: dir, watchMs: 100 },
    log: { info: () => undefined, warn: () => undefined, error: console.error },
  };
  const bed: ProxmoxBed = {
    ...{ stand, state, options },
    open: (more) => proxmoxHypervisor({ ...options, ...more }),
    identity: {
      ...{ hostname: 'guest', passwordHash: hash, userData: null },
      ...{ authorizedKeys: ['ssh-ed25519 AAAAC3Nz guest'], nameservers: ['192.0.2.53'] },
    },
    spec: (number) => ({
      ...{ id: `test-${network}-${number}`, cpuCores: 1, memoryMib: 96, diskGib: 1, image: image.slug },
      nic: {
        mac: `52:54:00:77:${String(network).padStart(2, '0')}:${String(number).padStart(2, '0')}`,
        portMbps: 100,
        addresses: [
          { family: 4, address: `127.77.${network}.${number}`, prefix: 24, gateway: `127.77.${network}.254` },
          { family: 6, address: `fd77:${network}::${number}`, prefix: 64, gateway: `fd77:${network}::ff` },
        ],
      },
    }),
    vm: (id) =>
      [...state.vms.values()].find(({ settings, pool }) => settings.name === id && pool === 'innkeeper'),
    underTest: () => ({
      ...{
        hypervisor: bed.open(),
        image,
        spec: bed.spec,
        identity: bed.identity,
        again: async () => bed.open(),
      },
      ...{
        password: 'in clear',
        other: { passwordHash: '$6$other$hash', authorizedKey: 'ssh-ed25519 AAAAC3Nz other' },
      },
      async guestShutsDown({ id }) {
        const vm = bed.vm(id);
        if (vm) end(state, vm, 'by the engine');
      },
      async lose({ id }) {
        const vm = bed.vm(id);
        if (vm) end(state, vm, 'silent');
      },
      // A call that the published schema does not allow is one that a real cluster would refuse, whatever became of it.
      leftovers: async ({ id }) => [...leftovers(state, id), ...stand.refusedBySchema],
      guestAddresses: async ({ id }) => bed.vm(id)?.running?.guest.addresses ?? [],
      async silence({ id }, isSilent) {
        const guest = bed.vm(id)?.running?.guest;
        if (guest) guest.isSilent = isSilent;
      },
      ...{ inGuest: null, signsIn: null, spoofs: null, readyTimeoutMs: 10_000, shutdownTimeoutMs: 5_000 },
      remove: bed.remove,
    }),
    remove() {
      stand.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return bed;
}

/** An image that boots by itself, as far as anybody looks at it. */
export async function makeImage(
  dir: string,
  { slug, ...source }: { slug: string; kind: 'build'; recipe: string },
): Promise<void> {
  mkdirSync(join(dir, slug));
  const file = join(dir, slug, 'disk.qcow2');
  await writeEmptyQcow2(file, 256 * 2 ** 20, null);
  const description = { guest: 'cloud-init', boot: null, diskBytes: 256 * 2 ** 20, source };
  writeFileSync(join(dir, slug, 'image.json'), JSON.stringify(description));
  if (readFileSync(file).length === 0) throw new Error('an empty image');
}

function leftovers(state: State, id: string): string[] {
  const machines = [...state.vms.values()].filter(({ settings }) => JSON.stringify(settings).includes(id));
  const files = [...state.files.keys()].filter((key) => key.includes(`-${id}-`) || key.includes(`-${id}.`));
  const vmids = [...state.vms.keys()];
  const disks = [...state.volumes.keys()].filter(
    (key) => !vmids.some((vmid) => key.includes(`:vm-${vmid}-`)),
  );
  return [...machines.map(({ vmid }) => `machine ${vmid}`), ...files, ...disks];
}
