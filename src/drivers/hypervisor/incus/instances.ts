import { HypervisorError, type MachineId, type MachineReport, type PowerState } from '../contract.ts';
import { asList, asRecord, asText, type IncusClient } from './client.ts';
import { calling, IncusRefusal, unreachable } from './failure.ts';
import { instancePath, machineOf, type Profile, profileFrom, profileName } from './machine.ts';

/** An instance of ours as the engine tells of it. */
export interface Instance {
  id: MachineId;
  status: string;
  /** The member that has it; null in a cluster of one. */
  member: string | null;
  startedAt: Date | null;
  /** Its member does not answer, and the others know no more than that it is there. */
  isSilent: boolean;
}

export interface Instances {
  /** Null when it is not there; `disk_failed` when there is one of its name that is not ours. */
  find(id: MachineId): Promise<Instance | null>;
  /** The machine's profile, from its first step to its last; null when there is none. */
  profile(id: MachineId): Promise<Profile | null>;
  /** Writes the whole profile; a running machine takes at once what it can. */
  writeProfile(id: MachineId, profile: Profile): Promise<void>;
  report(id: MachineId): Promise<MachineReport>;
  list(): Promise<MachineReport[]>;
}

export function clusterInstances(client: IncusClient): Instances {
  async function find(id: MachineId): Promise<Instance | null> {
    const answer = await client.find(instancePath(id), { recursion: '1' });
    if (answer === null) return null;
    if (!isOurs(asRecord(answer, 'an instance'), id))
      throw new HypervisorError('disk_failed', `there is an instance ${id} that is none of ours`, {
        permanent: true,
      });
    return instanceFrom(answer);
  }

  /** Where its member does not answer, only the list of all tells that the machine is there. */
  async function findOrSilent(id: MachineId): Promise<Instance | null> {
    return find(id).catch(async (error: unknown) => {
      if (!(error instanceof IncusRefusal)) throw error;
      const all = asList(await client.read('/1.0/instances', { recursion: '2' }), 'instances');
      const found = all.find(({ name }) => name === id);
      const instance = found && isOurs(found, id) ? instanceFrom(found) : null;
      if (instance?.isSilent) return instance;
      throw error;
    });
  }

  const reportOf = (id: MachineId, instance: Instance | null): MachineReport => {
    const power = instance === null ? 'stopped' : powerOf(instance);
    const startedAt = power === 'running' ? (instance?.startedAt ?? null) : null;
    return {
      ...{ id, power, startedAt },
      ...(instance?.status === 'Error' && power === 'running' ? { hangs: true } : {}),
      ...(instance?.member == null ? {} : { node: instance.member }),
    };
  };

  const profile = async (id: MachineId) => {
    const answer = await client.find(`/1.0/profiles/${profileName(id)}`);
    return answer === null ? null : profileFrom(answer);
  };

  return {
    find,
    profile,
    async writeProfile(id, wanted) {
      const path = `/1.0/profiles/${profileName(id)}`;
      const before = await profile(id);
      if (before === null) {
        await calling(
          'disk_failed',
          client.change('POST', '/1.0/profiles', { name: profileName(id), ...wanted }),
        );
      } else if (!isSame(before, wanted)) {
        // What a PUT leaves out goes, which is right for a profile; an instance would lose its volatile settings.
        await calling('network_failed', client.change('PUT', path, wanted));
      }
    },
    async report(id) {
      const [known, instance] = await Promise.all([profile(id), findOrSilent(id)]);
      return known === null ? { id, power: 'absent', startedAt: null } : reportOf(id, instance);
    },
    async list() {
      const [profiles, answer] = await Promise.all([
        client.read('/1.0/profiles', { recursion: '1' }),
        client.read('/1.0/instances', { recursion: '2' }),
      ]);
      const instances = new Map(asList(answer, 'instances').map((each) => [each.name, each]));
      const ids = asList(profiles, 'profiles').flatMap(({ name, config }) => machineOf(name, config) ?? []);
      return ids.sort().map((id) => {
        const instance = instances.get(id);
        return reportOf(id, instance && isOurs(instance, id) ? instanceFrom(instance) : null);
      });
    },
  };
}

export function powerOf({ status, isSilent }: Instance): PowerState {
  if (isSilent) return 'unknown';
  return status === 'Stopped' ? 'stopped' : 'running';
}

/** The same where something is decided by it, or told as done: `host_not_ready` while nobody can say. */
export function surePower(instance: Instance): 'running' | 'stopped' {
  const power = powerOf(instance);
  if (power === 'running' || power === 'stopped') return power;
  throw unreachable(`how ${instance.id} is cannot be learnt: its member does not answer`, undefined, true);
}

/** Of one whose member is silent the engine tells its name and place, and no profiles: it may be ours, and nothing is known of it. */
function isOurs({ profiles, status, state }: Record<string, unknown>, id: MachineId): boolean {
  if (isSilent(status, state)) return true;
  return Array.isArray(profiles) && profiles.includes(profileName(id));
}

function isSilent(status: unknown, state: unknown): boolean {
  return status === 'Error' && !state;
}

function instanceFrom(answer: unknown): Instance {
  const { name, status, location, state } = asRecord(answer, 'an instance');
  const { started_at } = asRecord(state ?? {}, 'the state of an instance');
  const startedAt = typeof started_at === 'string' ? new Date(started_at) : null;
  return {
    id: asText(name, 'the name of an instance'),
    status: asText(status, 'the status of an instance'),
    member: typeof location === 'string' && location !== 'none' ? location : null,
    isSilent: isSilent(status, state),
    // The engine's way to say never is a day long ago.
    startedAt: startedAt && startedAt.getTime() > 0 ? startedAt : null,
  };
}

function isSame(one: Profile, other: Profile): boolean {
  const lines = ({ config, devices }: Profile) =>
    [
      ...entries('', config),
      ...Object.entries(devices).flatMap(([name, device]) => entries(name, device)),
    ].sort();
  const entries = (of: string, map: Record<string, string>) =>
    Object.entries(map).map(([key, value]) => JSON.stringify([of, key, value]));
  return lines(one).join('\n') === lines(other).join('\n');
}
