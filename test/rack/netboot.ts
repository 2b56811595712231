import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ensureInstaller,
  ensureTree,
  type InstallPlan,
  nonceReader,
  type Report,
  type Tree,
} from '../../src/drivers/installer/index.ts';
import {
  ensureBootPrograms,
  type Netboot,
  netbootHandler,
  openNetboot,
} from '../../src/drivers/netboot/index.ts';
import { runProgram } from '../../src/platform/host/program.ts';
import { programIn, surroundings } from '../unpacked.ts';
import { openDesk, type TestDesk } from './desk.ts';
import { openRackNetwork, type RackNetwork } from './network.ts';
import { buildServer, cardOf, type Disk, ovmf, type Server } from './server.ts';

/** A server on a network from which it starts, and those whom it meets there. */
export interface Rack {
  server: Server;
  desk: TestDesk;
  netboot: Netboot;
  network: RackNetwork;
  tree: Tree;
  mac: string;
  address: string;
  /** What servers are to start that ask: the installer, or what is on their disks. */
  starts: 'installer' | 'disk';
  /** The answers so far. */
  answered: ('installer' | 'disk')[];
  told<K extends Report['kind']>(kind: K): Extract<Report, { kind: K }>[];
  /** A plan that installs the small system on these disks, with a key that {@link ssh} signs in by. */
  installs(serials: string[]): InstallPlan;
  /** Runs a command on the server; null while nobody lets us in, or when it fails or is not over in time (a minute unless told). */
  ssh(command: string, timeoutMs?: number): Promise<string | null>;
  close(): Promise<void>;
}

export interface RackOptions {
  /** Of {@link openRackNetwork}. */
  number: number;
  /** The unpacked programs. */
  tree: string;
  /** What `npm test` built: the installer and a system. */
  installer: string;
  disks: Disk[];
  firmware?: 'bios' | 'uefi';
}

const mac = '52:54:00:be:ef:01';

export async function openRack({
  number,
  tree,
  installer,
  disks,
  firmware = 'bios',
}: RackOptions): Promise<Rack> {
  const dir = await mkdtemp(join(tmpdir(), 'innkeeper-rack-'));
  const network = await openRackNetwork(number);
  const desk = await openDesk(dir, network.address);
  const system = await ensureTree(installer, 'tiny', () => undefined);
  await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'id')]);
  const key = (await readFile(join(dir, 'id.pub'), 'utf8')).trim();
  const server = await buildServer(join(dir, 'server'), tree, {
    disks,
    network: await network.port(mac, cardOf[firmware]),
    firmware: firmware === 'uefi' ? await ovmf(dir, tree) : { kind: 'bios' },
  });
  const read = nonceReader();
  server.onSaid((chunk) => read(chunk).forEach(desk.heard));

  const answered: Rack['answered'] = [];
  const image = await ensureInstaller(installer, () => undefined);
  const boot = await listen(network.address, (files) =>
    netbootHandler({
      ...image,
      places: { files, calls: desk.url, key: desk.key },
      async answer() {
        answered.push(rack.starts);
        return rack.starts === 'disk' ? { start: 'disk' } : { start: 'installer', token: desk.open() };
      },
    }),
  );
  const netboot = await openNetboot({
    dir: join(dir, 'netboot'),
    programs: await ensureBootPrograms(installer),
    program: programIn(tree, 'dnsmasq'),
    env: surroundings(tree),
    interface: network.bridge,
    address: network.address,
    prefix: 24,
    gateway: network.address,
    range: null,
    script: `${boot.url}/boot.ipxe`,
    log: { warn: (message) => console.warn(message) },
  });
  const address = `${network.subnet}50`;
  const rack: Rack = {
    ...{ server, desk, netboot, network, tree: system, mac, address, answered },
    starts: 'installer',
    told: (kind) =>
      desk.reports.map(({ report }) => report).filter((report) => report.kind === kind) as ReturnType<
        typeof rack.told<typeof kind>
      >,
    installs: (serials) => ({
      task: 'install',
      wipe: serials,
      layout: { kind: serials.length > 1 ? 'raid1' : 'single', serials },
      image: { sha256: system.sha256 },
      identity: {
        ...{
          hostname: 'metal1.example.com',
          keys: [key],
          passwordHash: null,
          mac,
          nameservers: ['192.0.2.53'],
          userData: null,
        },
        addresses: [{ family: 4, address, prefix: 24, gateway: network.address }],
      },
    }),
    async ssh(command, timeoutMs = 60_000) {
      const options = [
        'StrictHostKeyChecking=no',
        'UserKnownHostsFile=/dev/null',
        'LogLevel=ERROR',
        'ConnectTimeout=20',
      ];
      const argv = [
        'ssh',
        '-i',
        join(dir, 'id'),
        ...options.flatMap((each) => ['-o', each]),
        `root@${address}`,
        command,
      ];
      return runProgram(argv, { timeoutMs }).then(
        ({ stdout }) => stdout,
        () => null,
      );
    },
    async close() {
      await server.off();
      await netboot.close();
      boot.server.close();
      desk.close();
      await network.close();
      await rm(dir, { recursive: true });
    },
  };
  return rack;
}

async function listen(
  address: string,
  handlerOf: (url: string) => ReturnType<typeof netbootHandler>,
): Promise<{ url: string; server: HttpServer }> {
  const server = createServer((request, response) => {
    handler(request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as { port: number };
  const url = `http://${address}:${port}`;
  const handler = handlerOf(url);
  return { url, server };
}
