import { open, readFile } from 'node:fs/promises';
import { writeDurably } from '../../../platform/host/durable.ts';
import type { Nic, NicAddress } from '../contract.ts';
import { exists, lendTo, type MachineFiles, makeMachineDir, type Owner } from './files.ts';
import { nextIdentity, withAddresses } from './publicIdentity.ts';
import { type PublicIdentity, rescueSeed, type Secrets, secretsIn, seed, seedBytes } from './seed.ts';

/** Writes the seed disk that the guest reads when it boots. */
export async function writeIdentity(
  files: MachineFiles,
  identity: PublicIdentity & Secrets,
  owner: Owner | null,
): Promise<void> {
  await makeMachineDir(files, owner);
  const before = (await exists(files.identity)) ? await readIdentity(files) : null;
  const known = nextIdentity(before, identity);
  await replace(files.identity, JSON.stringify(known), null);
  await replace(files.seed, seed(files.id, known, identity), owner);
}

/**
 * Gives the machine other addresses from its next boot on; secrets still there stay. Returns those that are its
 * own no more, null when its addresses have never changed.
 */
export async function writeAddresses(files: MachineFiles, nic: Nic): Promise<NicAddress[] | null> {
  const before = await readIdentity(files);
  const known = withAddresses(before, nic);
  if (known === null) return null;
  await replace(files.identity, JSON.stringify(known), null);
  const secrets = secretsIn(known.guest, await readSeed(files.seed));
  await overwrite(files.seed, seed(files.id, known, secrets));
  if (await exists(files.rescueSeed)) {
    const rescueSecrets = secretsIn('tiny', await readSeed(files.rescueSeed));
    await overwrite(files.rescueSeed, rescueSeed(known, rescueSecrets));
  }
  return known.former;
}

/** Writes the seed that the rescue system reads; without secrets it takes those of the machine's own disk. */
export async function writeRescueSeed(
  files: MachineFiles,
  secrets: Secrets | null,
  owner: Owner | null,
): Promise<void> {
  await replace(files.rescueSeed, rescueSeed(await readIdentity(files), secrets), owner);
}

/** Whether the seed still gives a guest that reads it in stages what it takes once. */
export async function isBeingTaken(files: MachineFiles): Promise<boolean> {
  const { guest } = await readIdentity(files);
  return guest !== 'tiny' && secretsIn(guest, await readSeed(files.seed)) !== null;
}

/** Writes the seeds again without secrets. */
export async function forgetSecrets(files: MachineFiles): Promise<void> {
  if (!(await exists(files.seed))) return;
  const known = await readIdentity(files);
  await overwrite(files.seed, seed(files.id, known, null));
  if (await exists(files.rescueSeed)) await overwrite(files.rescueSeed, rescueSeed(known, null));
}

/** Gives the machine another name from its next boot on. Secrets still there go, as in {@link forgetSecrets}. */
export async function renameIdentity(files: MachineFiles, hostname: string): Promise<void> {
  const known = { ...(await readIdentity(files)), hostname };
  await replace(files.identity, JSON.stringify(known), null);
  await overwrite(files.seed, seed(files.id, known, null));
}

export async function readIdentity(files: MachineFiles): Promise<PublicIdentity> {
  return JSON.parse(await readFile(files.identity, 'utf8'));
}

async function readSeed(file: string): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(seedBytes), 0, seedBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * In place, not by renaming: a running QEMU holds the file open, and what it holds would keep the secrets on
 * this disk until the machine stops.
 */
async function overwrite(file: string, content: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.write(content, 0, seedBytes, 0);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function replace(file: string, content: string | Buffer, owner: Owner | null): Promise<void> {
  return writeDurably(file, content, (partial) => lendTo(owner, partial));
}
