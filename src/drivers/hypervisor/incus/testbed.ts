import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Member, type Members, startMembers } from '../../../../test/incus/members.ts';
import { signalIfThere } from '../../../../test/signal.ts';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { type TestGuests, testGuests } from '../guests.testbed.ts';
import type { ManagedDriverUnderTest } from '../managementConformance.ts';
import { imagesDir, reasonToSkip as reasonWithoutMachines } from '../qemu/testbed.ts';
import { incusHypervisor } from './driver.ts';
import type { IncusOptions } from './options.ts';

/** A real cluster for a test file, formed of daemons on this host, with a project of ours in it. */
export interface IncusBed extends TestGuests {
  members: Member[];
  options: IncusOptions;
  open(more?: Partial<IncusOptions>): Hypervisor;
  /** What the conformance suites ask of a driver, with its guests on this bed. */
  underTest(
    patience: Pick<ManagedDriverUnderTest, 'readyTimeoutMs' | 'shutdownTimeoutMs'>,
  ): ManagedDriverUnderTest;
  /** Kills the machine's process, as the kernel does when memory runs out. */
  lose(spec: MachineSpec): Promise<void>;
  leftovers(spec: MachineSpec): Promise<string[]>;
  remove(): void;
}

const filterOfMembers = join(import.meta.dirname, '../../../../docs/operations/incus-filter.nft');
const project = 'innkeeper';
const pool = 'local';

/** Why no cluster can be had in this test run, in one line, or null when it can. */
export async function reasonToSkip(): Promise<string | null> {
  const reason = await reasonWithoutMachines('tiny');
  if (reason !== null) return reason;
  return process.env.INNKEEPER_TEST_INCUS
    ? null
    : 'there is no Incus: npm test unpacks one, and says why it cannot';
}

export async function incusBed(network: number, count = 1): Promise<IncusBed> {
  const dir = mkdtempSync(join(tmpdir(), 'iki-'));
  const tree = join(process.env.INNKEEPER_TEST_INCUS ?? '', 'tree');
  const cluster = await startMembers(count, network, tree, imagesDir);
  try {
    const guests = await testGuests(dir, network, 'tiny', {});
    return bedOf(dir, guests, cluster, await furnish(dir, cluster.all));
  } catch (error) {
    cluster.remove();
    throw error;
  }
}

/** Gives the cluster an address, a pool, a project, and us a certificate. */
async function furnish(dir: string, members: Member[]): Promise<IncusOptions> {
  const [first] = members;
  if (!first) throw new Error('a cluster without a member');
  const [key, certificate] = [join(dir, 'client.key'), join(dir, 'client.crt')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=innkeeper'];
  await runProgram(['openssl', 'req', '-x509', ...curve, ...subject]);
  await first.ask('PATCH', '/1.0', { config: { 'core.https_address': `${first.address}:8443` } });
  await first.ask('POST', '/1.0/storage-pools', { name: pool, driver: 'dir' });
  const config = {
    'features.profiles': 'true',
    'features.images': 'true',
    'features.storage.volumes': 'true',
    'user.innkeeper.filter': '1',
  };
  for (const { inside } of members) await runAsRoot([...inside(), 'nft', '-f', filterOfMembers]);
  if (members.length > 1) await formCluster(members);
  await first.ask('POST', '/1.0/projects', { name: project, config });
  const pem = readFileSync(certificate, 'utf8');
  const body = pem.replace(/-----[^-]+-----|\s/g, '');
  await first.ask('POST', '/1.0/certificates', { type: 'client', name: 'innkeeper', certificate: body });
  const { certificate: serverCertificate } = (
    (await first.ask('GET', '/1.0')) as { environment: { certificate: string } }
  ).environment;
  return {
    endpoints: members.map(({ address }) => `https://${address}:8443`),
    serverCertificate,
    certificate: pem,
    key: readFileSync(key, 'utf8'),
    ...{ project, pool, bridge: 'br0', member: null, imagesDir },
    directBoot: (image) => (image.boot === null ? null : emulated(image.boot.commandLine)),
    policesEgress: false, // no kernel of a test machine is asked for what it may lack
    log: { info: () => undefined, warn: () => undefined, error: console.error },
  };
}

/** Makes a cluster of them, `n1` and so on, by tokens, as `incus admin init` does. */
async function formCluster([first, ...more]: Member[]): Promise<void> {
  if (!first) return;
  await first.ask('PUT', '/1.0/cluster', { server_name: 'n1', enabled: true });
  for (const [nth, member] of more.entries()) {
    const name = `n${nth + 2}`;
    const token = await first.ask('POST', '/1.0/cluster/members', { server_name: name });
    const { metadata } = token as { metadata: Record<string, unknown> };
    const { environment } = (await first.ask('GET', '/1.0')) as { environment: { certificate: string } };
    const wanted = { server_name: name, ...pick(metadata, ['fingerprint', 'addresses', 'secret']) };
    await member.ask('PUT', '/1.0/cluster', {
      ...{ server_name: name, enabled: true, server_address: `${member.address}:8443` },
      cluster_address: `${first.address}:8443`,
      cluster_certificate: environment.certificate,
      cluster_token: Buffer.from(JSON.stringify({ ...wanted, expires_at: metadata.expiresAt })).toString(
        'base64',
      ),
      member_config: [{ entity: 'storage-pool', name: pool, key: 'source', value: '' }],
    });
  }
}

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}

/** What a host without KVM and vhost-vsock needs: other acceleration, no vsock, and SeaBIOS in place of both flash drives. */
function emulated(commandLine: string): Record<string, string> {
  const quick = 'mitigations=off nokaslr tsc=reliable random.trust_cpu=on cryptomgr.notests audit=0';
  const kernel = `-kernel /images/tiny/kernel -initrd /images/tiny/initrd -append "${commandLine} ${quick}"`;
  return {
    'raw.qemu': `-cpu max,la57=off ${kernel}`,
    'raw.qemu.conf': '[machine]\naccel = "tcg"\n\n[device "qemu_vsock"]\n\n[drive][0]\n\n[drive][1]\n',
  };
}

function bedOf(dir: string, guests: TestGuests, cluster: Members, options: IncusOptions): IncusBed {
  const [first] = cluster.all as [Member];
  const bed: IncusBed = {
    ...guests,
    members: cluster.all,
    options,
    open: (more) => incusHypervisor({ ...options, ...more }),
    underTest: (patience) => ({
      ...bed,
      ...patience,
      hypervisor: bed.open(),
      again: async () => bed.open(),
      // The guest is off before ssh has its answer.
      guestShutsDown: async (spec) => void (await bed.inGuest(spec, 'poweroff').catch(() => undefined)),
      // The engine's own agent is what it asks, and no test guest has one.
      silence: async () => undefined,
    }),
    async lose({ id }) {
      const machines = cluster.all.map(({ state }) => join(state, `run/incus/${project}_${id}/qemu.pid`));
      for (const file of machines) {
        const pid = await runProgram(['cat', file]).catch(() => null);
        if (pid) signalIfThere(Number(pid.stdout), 'SIGKILL');
      }
    },
    async leftovers({ id }) {
      const lists = ['instances', 'images', 'profiles', `storage-pools/${pool}/volumes/custom`, 'operations'];
      const found = await Promise.all(
        lists.map((each) => first.ask('GET', `/1.0/${each}?project=${project}&recursion=1`)),
      );
      const named = (each: unknown) =>
        JSON.stringify(each).includes(`"${id}`) || JSON.stringify(each).includes(`-${id}"`);
      const things = found.flatMap((each) => (Array.isArray(each) ? each : []));
      const { stdout } = await runProgram([
        'find',
        ...cluster.all.map(({ state }) => `${state}/var`),
        '-name',
        `*${id}*`,
        '-not',
        '-path',
        '*/security/*',
        // An empty folder stays at a member that a machine was moved off; nothing takes it away but the member's own restart.
        ...['-not', '(', '-type', 'd', '-empty', ')'],
      ]);
      return [
        ...things.filter(named).map((each) => JSON.stringify(each)),
        ...stdout.split('\n').filter(Boolean),
      ];
    },
    remove() {
      cluster.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return bed;
}
