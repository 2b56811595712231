import ipaddr from 'ipaddr.js';
import { checkIdentity, HypervisorError } from '../hypervisor/index.ts';
import { InstallerError } from './failure.ts';

/** What the installer is to do, in the form in which it reads it. Disks are named by their serial numbers. */
export type Plan =
  /** Nothing is decided yet; it asks again. */
  | { task: 'wait' }
  /** Nothing is to be done; it starts the server again. */
  | { task: 'restart' }
  /** An account of its own BMC gets this password, over the machine's own bus; it asks again then. */
  | { task: 'bmc'; bmc: { user: string; password: string } }
  | { task: 'wipe'; wipe: string[] }
  | InstallPlan
  | RescuePlan;

/** A system onto disks that are wiped first, those of the layout among them. */
export interface InstallPlan {
  task: 'install';
  wipe: string[];
  layout: { kind: 'single' | 'raid1'; serials: string[] };
  /** The system that the same server is given with it: SHA-256 of its packed bytes, in hexadecimal. */
  image: { sha256: string; disk?: DiskPlan | undefined };
  identity: Identity;
  /** What the server does then. Default: it starts again. */
  after?: 'restart' | 'off' | undefined;
}

/** Of a system that is no file tree but the image of a disk. */
export interface DiskPlan {
  /** Of the disk as it is to be, once it is unpacked. */
  sha256: string;
  /** Whole MiB. */
  bytes: number;
  /** What its cloud-init reads of who it is, by the names of files. */
  seed: Record<string, string>;
}

/** This system in memory, with the customer's keys; disks stay as they are. */
export interface RescuePlan {
  task: 'rescue';
  hostname: string;
  keys: string[];
  /** crypt(5); null: keys alone open it. */
  passwordHash: string | null;
  /** Of the port that gets the addresses, instead of the one by which it called us. */
  mac: string;
  /** None: it keeps the one that the network of servers gave it, where the keys let in as well. */
  addresses: Address[];
  nameservers: string[];
}

interface Address {
  family: 4 | 6;
  address: string;
  prefix: number;
  gateway: string;
}

/** Who the server is to be. */
export interface Identity {
  hostname: string;
  /** OpenSSH public keys, one line each. */
  keys: string[];
  /** crypt(5); null leaves signing in by password off. */
  passwordHash: string | null;
  /** Of the port that has the addresses. */
  mac: string;
  addresses: Address[];
  nameservers: string[];
  /** For cloud-init, word for word, of a system that has it; null: none. */
  userData: string | null;
}

const mostDisks = 64;

/**
 * Refuses a plan with a value that has no meaning (`plan_invalid`), before a server gets it. What customers may ask for is
 * checked where they ask; this is the last line.
 */
export function checkPlan(plan: Plan): void {
  if (plan.task === 'bmc') checkBmc(plan.bmc);
  if (plan.task === 'wipe') checkSerials(plan.wipe);
  if (plan.task === 'install') checkInstall(plan);
  if (plan.task === 'rescue') checkRescue(plan);
}

/** As BMCs hold them; of the name only what no program takes for anything else. */
function checkBmc({ user, password }: { user: string; password: string }): void {
  if (!/^[a-z][a-z0-9]{0,15}$/.test(user)) refuse('not a user of a BMC');
  if (!/^[!-~]{8,16}$/.test(password)) refuse('a BMC’s password has 8 to 16 printable characters');
}

function checkInstall({ wipe, layout, image, identity, after = 'restart' }: InstallPlan): void {
  if (after !== 'restart' && after !== 'off') refuse('afterwards a server starts again, or is off');
  checkSerials(wipe);
  checkSerials(layout.serials);
  if ((layout.serials.length === 1) !== (layout.kind === 'single'))
    refuse('one disk makes the layout `single`, several make `raid1`');
  // Whatever stood there before would show through where the new system has not written yet.
  for (const serial of layout.serials)
    if (!wipe.includes(serial)) refuse(`the disk ${serial} is written to and not wiped`);
  if (!isSha256(image.sha256)) refuse('the checksum is no SHA-256');
  if (image.disk !== undefined) checkDisk(image.disk, layout);
  checkPerson(identity);
  checkMac(identity.mac);
  if (identity.addresses.length === 0) refuse('a server without an address');
  identity.addresses.forEach(checkAddress);
}

const mib = 2 ** 20;
/** Its beginning is written last. */
const leastDisk = 8 * mib;
/** The partition that holds the files has a few MiB, and no file of ours is as long. */
const longestSeed = 512 * 1024;

function checkDisk({ sha256, bytes, seed }: DiskPlan, { kind }: InstallPlan['layout']): void {
  if (kind !== 'single') refuse('the image of a disk goes to one disk');
  if (!isSha256(sha256)) refuse('the checksum of the disk is no SHA-256');
  if (!Number.isSafeInteger(bytes) || bytes < leastDisk || bytes % mib !== 0)
    refuse('the image of a disk has whole MiB, and eight at least');
  const files = Object.entries(seed);
  if (files.length === 0) refuse('nothing says who the server is');
  for (const [name, content] of files) {
    if (!/^[a-z][a-z-]{0,30}$/.test(name)) refuse(`not the name of a file: ${JSON.stringify(name)}`);
    if (Buffer.byteLength(content) > longestSeed) refuse(`${name} is too long`);
  }
}

function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function checkRescue(plan: RescuePlan): void {
  checkPerson({ ...plan, userData: null });
  checkMac(plan.mac);
  plan.addresses.forEach(checkAddress);
}

function checkMac(mac: string): void {
  if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(mac)) refuse(`not a MAC address: ${mac}`);
}

function checkSerials(serials: readonly string[]): void {
  if (serials.length < 1 || serials.length > mostDisks) refuse(`not from 1 to ${mostDisks} disks`);
  if (new Set(serials).size !== serials.length) refuse('a disk is named twice');
  for (const serial of serials)
    if (!isSerial(serial)) refuse(`not a serial number of a disk: ${JSON.stringify(serial)}`);
}

/** Serial numbers as drives have them: printable ASCII, at most 64 characters, no spaces around them. */
export function isSerial(text: string): boolean {
  return /^[!-~]([ -~]{0,62}[!-~])?$/.test(text);
}

function checkAddress({ family, address, prefix, gateway }: Address): void {
  const ofFamily = (text: string) =>
    family === 4
      ? ipaddr.IPv4.isValidFourPartDecimal(text)
      : ipaddr.IPv6.isValid(text) && !text.includes('%');
  if (!ofFamily(address)) refuse(`not an address: ${address}`);
  if (!ofFamily(gateway)) refuse(`not a gateway: ${gateway}`);
  if (!Number.isInteger(prefix) || prefix < 1 || prefix > (family === 4 ? 32 : 128))
    refuse(`not the length of a prefix: ${prefix}`);
}

/** The same rules as for machines. */
function checkPerson(
  of: Pick<Identity, 'hostname' | 'keys' | 'passwordHash' | 'nameservers' | 'userData'>,
): void {
  try {
    // Plans of before have none.
    checkIdentity({ ...of, authorizedKeys: of.keys, userData: of.userData ?? null });
  } catch (cause) {
    if (cause instanceof HypervisorError) throw new InstallerError('plan_invalid', cause.message, { cause });
    throw cause;
  }
}

function refuse(message: string): never {
  throw new InstallerError('plan_invalid', message);
}
