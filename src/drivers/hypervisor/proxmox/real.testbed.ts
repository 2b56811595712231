import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { runProgram } from '../../../platform/host/program.ts';
import type { ImageSource, MachineSpec, NicAddress } from '../contract.ts';
import { testGuests } from '../guests.testbed.ts';
import type { ManagedDriverUnderTest } from '../managementConformance.ts';
import { asRecord } from './answers.ts';
import { proxmoxClient } from './client.ts';
import { clusterFacts } from './cluster.ts';
import { proxmoxHypervisor } from './driver.ts';
import { clusterFiles } from './files.ts';
import { clusterMachines } from './machines.ts';
import type { ProxmoxOptions } from './options.ts';

/** Why the suites do not run against a real cluster, in one line; null when they do. */
export function reasonToSkip(): string | null {
  if (!process.env.TEST_PROXMOX_URL) return 'TEST_PROXMOX_URL names no cluster';
  const needed = ['FINGERPRINT', 'TOKEN', 'NETWORK', 'IMAGE', 'IMAGE_SHA256', 'SSH'];
  const missing = needed.map((name) => `TEST_PROXMOX_${name}`).filter((name) => !process.env[name]);
  return missing.length === 0 ? null : `${missing.join(', ')} missing`;
}

function setting(name: string, otherwise = ''): string {
  return process.env[`TEST_PROXMOX_${name}`] || otherwise;
}

/**
 * The cluster that the environment names, as docs/operations/proxmox.md says. Guests are of a cloud image; `offset` is the first of
 * the addresses that this test file may use.
 */
export async function realCluster(offset: number): Promise<ManagedDriverUnderTest> {
  const dir = mkdtempSync(join(tmpdir(), 'ikp-'));
  const options = optionsFrom(dir);
  const client = proxmoxClient(options);
  const { version } = asRecord(await client.read('/version'), 'the version');
  console.info(`Proxmox VE ${version} at ${options.endpoints}`);
  const cluster = clusterFacts(options, client);
  const machines = clusterMachines(options, client, cluster);
  const files = clusterFiles(options, client);
  const guests = await testGuests(dir, 60 + offset, 'cloud', { diskGib: 4, memoryMib: 1_024 });
  const url = setting('IMAGE');
  const sha256 = setting('IMAGE_SHA256');
  const image: ImageSource = { slug: 'test-cloud', kind: 'download', url, sha256, guest: 'cloud-init' };
  const inGuest = guests.inGuest;
  const open = () => proxmoxHypervisor(options);
  return {
    ...guests,
    ...{
      hypervisor: open(),
      again: async () => open(),
      image,
      readyTimeoutMs: 300_000,
      shutdownTimeoutMs: 120_000,
    },
    spec: (number) => ({
      ...guests.spec(number),
      image: image.slug,
      nic: nicOf(guests.spec(number), number),
    }),
    // The guest is off before ssh has its answer.
    guestShutsDown: async (spec) => void (await inGuest(spec, 'poweroff').catch(() => undefined)),
    async lose({ id }) {
      const { vmid } = await machines.must(id);
      const kill = `kill -9 $(cat /var/run/qemu-server/${vmid}.pid)`;
      await runProgram(['ssh', '-o', 'BatchMode=yes', setting('SSH'), kill]);
    },
    async leftovers({ id }) {
      const { nodes, ours } = await cluster.overview();
      const left = await Promise.all(nodes.map(({ name }) => files.names(name, 'iso')));
      const seeds = left.flat().filter((name) => name.startsWith(`innkeeper-${id}-`));
      return [...seeds, ...ours.filter((place) => place.id === id).map(({ vmid }) => `machine ${vmid}`)];
    },
    async silence(spec, isSilent) {
      await inGuest(spec, `systemctl ${isSilent ? 'stop' : 'start'} qemu-guest-agent`);
    },
    // Whether another's address gets through takes a network of its own.
    spoofs: null,
    remove() {
      client.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function optionsFrom(imagesDir: string): ProxmoxOptions {
  const token = setting('TOKEN');
  const [first = 0, last = 0] = setting('VMIDS', '9000-9099').split('-').map(Number);
  return {
    endpoints: setting('URL').split(','),
    fingerprints: setting('FINGERPRINT').split(','),
    tokenId: token.slice(0, token.indexOf('=')),
    tokenSecret: token.slice(token.indexOf('=') + 1),
    pool: setting('POOL', 'innkeeper'),
    vmids: { first, last },
    storage: setting('STORAGE', 'local-lvm'),
    files: setting('FILES', 'local'),
    bridge: setting('BRIDGE', 'vmbr0'),
    ...{ node: null, imagesDir },
    log: { info: () => undefined, warn: console.warn, error: console.error },
  };
}

/** Each machine has the next address of the network that was given. */
function nicOf({ nic }: MachineSpec, number: number): MachineSpec['nic'] {
  const [network = '', gateway = ''] = setting('NETWORK').split(',');
  const [first, prefix] = ipaddr.IPv4.parseCIDR(network);
  const bytes = first.toByteArray();
  bytes[3] = (bytes[3] ?? 0) + number - 1;
  const address: NicAddress = { family: 4, address: bytes.join('.'), prefix, gateway };
  return { ...nic, addresses: [address] };
}
