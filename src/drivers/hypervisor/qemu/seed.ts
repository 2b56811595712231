import ipaddr from 'ipaddr.js';
import { type FileEntry, tarArchive, tarFiles } from '../../debian/index.ts';
import { type GuestIdentity, HypervisorError } from '../contract.ts';
import { isoFiles, isoVolume } from '../formats/iso9660.ts';
import type { PublicIdentity } from '../machine.ts';
import { addressBootHook } from './addresses.ts';
import { nameserverBootHook } from './nameservers.ts';
import { wholeNameBootHook } from './wholeName.ts';

/** The seed never changes its size, since a running guest may have it open. Holds 64 KiB of user data. */
export const seedBytes = 256 * 1024;

export type { PublicIdentity } from '../machine.ts';

/** What goes once the guest has taken it on. */
export type Secrets = Pick<GuestIdentity, 'passwordHash' | 'authorizedKeys' | 'userData'>;

/** The seed disk: a tar archive or a NoCloud volume, as the image wants it; null leaves secrets out. */
export function seed(id: string, known: PublicIdentity, secrets: Secrets | null): Buffer {
  return known.guest === 'tiny'
    ? padded(tarArchive(tinySeed(known, secrets)))
    : padded(isoVolume('cidata', cloudInitSeed(id, known, secrets)));
}

/** The seed of the rescue system, which is a tiny guest whatever the machine's own is. */
export function rescueSeed(known: PublicIdentity, secrets: Secrets | null): Buffer {
  return padded(tarArchive([...tinySeed(known, secrets), { path: 'rescue', content: '' }]));
}

/** The secrets that a seed of ours still holds; null when they are forgotten. */
export function secretsIn(guest: PublicIdentity['guest'], content: Buffer): Secrets | null {
  return guest === 'tiny' ? tinySecrets(tarFiles(content)) : cloudInitSecrets(isoFiles(content));
}

function padded(content: Buffer): Buffer {
  if (content.length > seedBytes) {
    throw new HypervisorError('spec_invalid', 'the identity is too long for the seed', { permanent: true });
  }
  return Buffer.concat([content, Buffer.alloc(seedBytes - content.length)]);
}

/** Read by the guest's boot script, see `images/tiny-guest.ts`. */
function tinySeed({ nic, hostname, nameservers }: PublicIdentity, secrets: Secrets | null): FileEntry[] {
  const lines = nic.addresses.map(
    (each) => `${each.family} ${each.address} ${each.prefix} ${each.gateway}\n`,
  );
  const files: FileEntry[] = [
    { path: 'hostname', content: hostname },
    { path: 'network', content: lines.join('') },
    { path: 'resolv.conf', content: nameservers.map((server) => `nameserver ${server}\n`).join('') },
  ];
  if (secrets?.authorizedKeys.length) {
    files.push({ path: 'authorized_keys', content: `${secrets.authorizedKeys.join('\n')}\n` });
  }
  if (secrets?.passwordHash) files.push({ path: 'password', content: secrets.passwordHash });
  return files;
}

function tinySecrets(files: Map<string, string>): Secrets | null {
  const passwordHash = files.get('password') ?? null;
  const keys = files.get('authorized_keys');
  if (passwordHash === null && keys === undefined) return null;
  return { passwordHash, authorizedKeys: keys?.slice(0, -1).split('\n') ?? [], userData: null };
}

const cloudConfigHead = '#cloud-config\n';
const archiveHead = '#cloud-config-archive\n';
/** At every boot: Debian's own rule would cut the name at its first dot, and did before this was read. */
const wholeName = `${cloudConfigHead}${JSON.stringify({ prefer_fqdn_over_hostname: true })}\n`;

/**
 * cloud-init's NoCloud files. JSON is YAML too and cannot be broken out of. Ours is vendor data, so that the
 * customer's user data stays theirs, word for word. The instance id never changes: with it, cloud-init knows
 * that a boot without secrets is not a new machine.
 * Source: cloud-init's reference, "NoCloud" and "Networking config Version 2".
 */
export function cloudInitSeed(id: string, known: PublicIdentity, secrets: Secrets | null): FileEntry[] {
  const meta = { 'instance-id': known.instanceId ?? id, 'local-hostname': known.hostname };
  const files: FileEntry[] = [
    { path: 'meta-data', content: JSON.stringify(meta) },
    { path: 'network-config', content: JSON.stringify(networkConfig(known)) },
    { path: 'user-data', content: secrets?.userData ?? '' },
  ];
  const parts: string[] = [wholeName];
  if (secrets) parts.push(`${cloudConfigHead}${JSON.stringify(cloudConfig(secrets))}\n`);
  if (known.hostname.includes('.')) parts.push(wholeNameBootHook(known.hostname));
  if (known.former) parts.push(addressBootHook(known.nic, known.former));
  if (known.newNameservers) parts.push(nameserverBootHook(known.nic, known.nameservers));
  const [only = '', ...more] = parts;
  files.push({ path: 'vendor-data', content: more.length > 0 ? archiveHead + JSON.stringify(parts) : only });
  return files;
}

function cloudInitSecrets(files: Map<string, string>): Secrets | null {
  const vendorData = files.get('vendor-data') ?? '';
  const parts: string[] = vendorData.startsWith(archiveHead)
    ? JSON.parse(vendorData.slice(archiveHead.length))
    : [vendorData];
  const ours = parts.find((part) => part.startsWith(cloudConfigHead) && part !== wholeName);
  if (ours === undefined) return null;
  const { users }: CloudConfig = JSON.parse(ours.slice(cloudConfigHead.length));
  return {
    passwordHash: users[0]?.hashed_passwd ?? null,
    authorizedKeys: users[0]?.ssh_authorized_keys ?? [],
    userData: files.get('user-data') || null,
  };
}

interface CloudConfig {
  disable_root: boolean;
  ssh_pwauth: boolean;
  users: { name: string; ssh_authorized_keys: string[]; lock_passwd: boolean; hashed_passwd?: string }[];
  chpasswd?: object;
}

/** The hash stands twice: with the account it is set before SSH answers, under `chpasswd` newer versions want it. */
function cloudConfig({ passwordHash, authorizedKeys }: Secrets): CloudConfig {
  const account = { name: 'root', ssh_authorized_keys: authorizedKeys };
  if (passwordHash === null) {
    return { disable_root: false, ssh_pwauth: false, users: [{ ...account, lock_passwd: true }] };
  }
  return {
    disable_root: false,
    ssh_pwauth: true,
    users: [{ ...account, lock_passwd: false, hashed_passwd: passwordHash }],
    chpasswd: { expire: false, users: [{ name: 'root', password: passwordHash, type: 'hash' }] },
  };
}

/**
 * Static addresses. The keys `gateway4` and `gateway6` are understood by every cloud-init and rendered right,
 * which its routes to `::/0` are not (22.4 makes them `::/64`); a gateway off the network needs routes still.
 */
function networkConfig({ nic, nameservers }: PublicIdentity): object {
  const gateways: Record<string, string> = {};
  const routes: object[] = [];
  for (const { family, address, prefix, gateway } of nic.addresses) {
    const key = `gateway${family}`;
    const near = ipaddr.parse(gateway).match(ipaddr.parse(address), prefix);
    if (near) gateways[key] ??= gateway;
    else routes.push({ to: family === 4 ? '0.0.0.0/0' : '::/0', via: gateway, 'on-link': true });
  }
  const eth0 = {
    match: { macaddress: nic.mac },
    'set-name': 'eth0',
    dhcp4: false,
    dhcp6: false,
    'accept-ra': false,
    addresses: nic.addresses.map((each) => `${each.address}/${each.prefix}`),
    ...gateways,
    ...(routes.length > 0 ? { routes } : {}),
    nameservers: { addresses: nameservers },
  };
  return { version: 2, ethernets: { eth0 } };
}
