import { createHash } from 'node:crypto';
import type { MachineId } from '../contract.ts';
import type { SnapshotFacts } from '../management.ts';
import { asList, asRecord, asText, asTexts, type IncusClient } from './client.ts';
import { calling, IncusRefusal, unlessAbsent } from './failure.ts';
import { bytesOfRoot, instancePath, type Profile, profileFrom } from './machine.ts';
import type { IncusOptions } from './options.ts';

/** A backup as it lies in the cluster: an instance that is never started, and a profile of its name that says whose it is. */
export interface Kept {
  /** Of the instance and of the profile alike. */
  instance: string;
  of: MachineId;
  name: string;
  /** When its contents were those of the machine's disk. */
  at: Date;
  sizeBytes: number;
  /** It was made to its end. */
  isWhole: boolean;
}

export interface Place {
  member: string | null;
}

export interface KeptInstances {
  /** Those of a machine that are whole or half, oldest first. */
  of(id: MachineId): Promise<Kept[]>;
  find(id: MachineId, name: string): Promise<Kept | null>;
  /** Writes down whose it is, before and after it is made. */
  note(kept: Kept): Promise<void>;
  /** Where it is: on a member, null in a cluster of one. Null altogether: it is not there. */
  placeOf(kept: Kept): Promise<Place | null>;
  remove(kept: Kept): Promise<void>;
}

const prefix = 'kept-';
const own = {
  of: 'user.innkeeper.kept-of',
  name: 'user.innkeeper.kept-name',
  at: 'user.innkeeper.kept-at',
  whole: 'user.innkeeper.kept-whole',
} as const;

/** Engines take names of hosts, and ours have dots and sixty-four letters. */
export function instanceOfBackup(id: MachineId, name: string): string {
  return prefix + createHash('sha256').update(`${id}/${name}`).digest('hex').slice(0, 32);
}

export function factsOf({ name, sizeBytes, at: createdAt }: Kept, { member }: Place): SnapshotFacts {
  return { name, sizeBytes, createdAt, ...(member === null ? {} : { node: member }) };
}

export function keptInstances({ pool }: Pick<IncusOptions, 'pool'>, client: IncusClient): KeptInstances {
  const pathOf = ({ instance }: Kept) => `/1.0/profiles/${instance}`;

  async function all(id: MachineId): Promise<Kept[]> {
    const profiles = asList(await client.read('/1.0/profiles', { recursion: '1' }), 'profiles');
    const found = profiles.flatMap((each) => {
      const name = asText(each.name, 'the name of a profile');
      return name.startsWith(prefix) ? keptFrom(name, profileFrom(each)) : [];
    });
    return found.filter(({ of }) => of === id).sort((one, other) => one.at.getTime() - other.at.getTime());
  }

  return {
    of: all,
    find: async (id, wanted) => (await all(id)).find(({ name }) => name === wanted) ?? null,
    async note(kept) {
      const profile = profileOf(kept, pool);
      if ((await client.find(pathOf(kept))) === null)
        await calling(
          'snapshot_failed',
          client.change('POST', '/1.0/profiles', { name: kept.instance, ...profile }),
        );
      else await calling('snapshot_failed', client.change('PUT', pathOf(kept), profile));
    },
    async placeOf({ instance }) {
      const found = await client.find(instancePath(instance)).catch(async (error: unknown) => {
        if (!(error instanceof IncusRefusal)) throw error;
        // Where its member does not answer, only the list of all tells that it is there.
        const listed = asList(await client.read('/1.0/instances', { recursion: '1' }), 'instances');
        return listed.find(({ name }) => name === instance) ?? Promise.reject(error);
      });
      if (found === null) return null;
      const location = asText(asRecord(found, 'a backup').location, 'the place of a backup');
      return { member: location === 'none' ? null : location };
    },
    async remove(kept) {
      await client.settled(kept.instance);
      await calling('snapshot_failed', unlessAbsent(client.change('DELETE', instancePath(kept.instance))));
      // Last: until then it is known whose it is.
      await calling('snapshot_failed', unlessAbsent(client.change('DELETE', pathOf(kept))));
    },
  };
}

function profileOf({ of, name, at, sizeBytes, isWhole }: Kept, pool: string): Profile {
  return {
    config: {
      'boot.autostart': 'false',
      ...{ [own.of]: of, [own.name]: name, [own.at]: at.toISOString() },
      ...(isWhole ? { [own.whole]: 'yes' } : {}),
    },
    devices: { root: { type: 'disk', path: '/', pool, size: `${sizeBytes / 2 ** 30}GiB` } },
  };
}

function keptFrom(instance: string, profile: Profile): Kept[] {
  const config = asTexts(profile.config, 'the settings of a profile');
  const [of, name, at] = [config[own.of], config[own.name], config[own.at]];
  if (of === undefined || name === undefined || at === undefined) return [];
  const isWhole = config[own.whole] === 'yes';
  return [{ instance, of, name, at: new Date(at), sizeBytes: bytesOfRoot(profile), isWhole }];
}
