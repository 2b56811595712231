import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { MachineId } from '../contract.ts';
import { type PublicIdentity, type Secrets, seed } from '../qemu/seed.ts';
import { asJson, asList, asRecord, asText, asTexts, type IncusClient, onMember } from './client.ts';
import { calling, unlessAbsent } from './failure.ts';
import type { IncusOptions } from './options.ts';

/**
 * Volumes that guests read their identity from. One is never written again: what changes gets a new one. The engine gives nothing back
 * of what it was sent for one, so secrets stand in a profile of its name besides, which is no machine's, is copied nowhere, and goes
 * when the volume does.
 */
export interface Seeds {
  /** Makes a volume on the member that has the machine, null where the cluster chose, and returns its name. */
  write(
    id: MachineId,
    member: string | null,
    known: PublicIdentity,
    secrets: Secrets | null,
  ): Promise<string>;
  /** The secrets that a volume holds; null when they are forgotten. */
  secrets(name: string): Promise<Secrets | null>;
  /** Whether a volume may hold secrets, by its name. */
  isSecret(name: string): boolean;
  /** Whether a member has a volume; one of a pool that all of them share, every member has. */
  isAt(name: string, member: string | null): Promise<boolean>;
  /** Takes away all volumes of a machine but these. */
  sweep(id: MachineId, kept: readonly string[]): Promise<void>;
}

const own = 'user.innkeeper.secrets';

export function seedVolumes(options: IncusOptions, client: IncusClient): Seeds {
  const folder = `/1.0/storage-pools/${encodeURIComponent(options.pool)}/volumes/custom`;
  const isOf = (id: MachineId, name: string) =>
    name.startsWith(`${id}.seed.`) || name.startsWith(`${id}.secret.`);
  const isSecret = (name: string) => name.includes('.secret.');

  return {
    async write(id, member, known, secrets) {
      const name = `${id}.${secrets === null ? 'seed' : 'secret'}.${randomBytes(6).toString('hex')}`;
      const content = seed(id, known, secrets);
      if (secrets !== null) {
        const config = { [own]: JSON.stringify(secrets) };
        await calling('disk_failed', client.change('POST', '/1.0/profiles', { name, config }));
      }
      const body = { stream: () => Readable.from([content]), bytes: content.length };
      const headers = {
        'content-type': 'application/octet-stream',
        'x-incus-name': name,
        'x-incus-type': 'iso',
      };
      await calling('disk_failed', client.upload(folder, body, headers, onMember(member)));
      return name;
    },
    isSecret,
    async secrets(name) {
      if (!isSecret(name)) return null;
      const { config } = asRecord(await client.read(`/1.0/profiles/${name}`), 'a profile');
      const kept = asTexts(config, 'the settings of a profile')[own] ?? 'null';
      return asJson(kept, 'what a guest is to be told') as Secrets | null;
    },
    isAt: async (name, member) => (await client.find(`${folder}/${name}`, onMember(member))) !== null,
    async sweep(id, kept) {
      for (const path of [folder, '/1.0/profiles']) {
        const there = asList(await client.read(path, { recursion: '1' }), 'volumes and profiles');
        for (const each of there) {
          const name = asText(each.name, 'a name');
          if (!isOf(id, name) || kept.includes(name)) continue;
          await calling('disk_failed', unlessAbsent(client.change('DELETE', `${path}/${name}`)));
        }
      }
    },
  };
}
