import { createHash, randomBytes } from 'node:crypto';
import type { MachineId } from '../contract.ts';
import { type PublicIdentity, type Secrets, seed } from '../qemu/seed.ts';
import type { ClusterFiles } from './files.ts';

/**
 * Discs that guests read their identity from. One is never written again: what changes gets a new one. The engine gives nothing back of
 * what it was sent, so secrets are noted besides, sealed, at the machine.
 */
export interface Seeds {
  /** Makes a disc on the node that has the machine, and returns its name. */
  write(id: MachineId, node: string, known: PublicIdentity, secrets: Secrets | null): Promise<string>;
  /** Whether a disc may hold secrets, by its name. */
  isSecret(name: string): boolean;
  /** Takes away all discs of a machine but these. */
  sweep(id: MachineId, node: string, kept: readonly string[]): Promise<void>;
}

export function seedDiscs(files: ClusterFiles): Seeds {
  const isOf = (id: MachineId, name: string) =>
    name.startsWith(`innkeeper-${id}-`) &&
    /^(seed|secret)-[0-9a-f]{12}\.iso$/.test(name.slice(`innkeeper-${id}-`.length));

  return {
    async write(id, node, known, secrets) {
      const kind = secrets === null ? 'seed' : 'secret';
      const name = `innkeeper-${id}-${kind}-${randomBytes(6).toString('hex')}.iso`;
      const content = seed(id, known, secrets);
      const sha256 = createHash('sha256').update(content).digest('hex');
      await files.send(node, 'iso', name, content, sha256);
      return name;
    },
    isSecret: (name) => /-secret-[0-9a-f]{12}\.iso$/.test(name),
    async sweep(id, node, kept) {
      for (const name of await files.names(node, 'iso'))
        if (isOf(id, name) && !kept.includes(name)) await files.remove(node, 'iso', name);
    },
  };
}
