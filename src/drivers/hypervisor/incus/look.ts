import { X509Certificate } from 'node:crypto';
import type { ClusterFindings } from '../cluster.ts';
import { asList, asRecord, asText, asTexts, type IncusClient } from './client.ts';
import { IncusForbids, IncusRefusal, unlessAbsent } from './failure.ts';
import { nicOf } from './machine.ts';
import type { IncusOptions } from './options.ts';

/** The line of versions that the driver was tested with. */
const testedLine = [6, 0] as const;
/** Abilities of the engine beyond its first version that we cannot do without, by its own names. */
const needed = ['custom_volume_iso', 'disk_io_bus_virtio_blk', 'instance_state_started_at'];
/** Of our project: what of ours would else be kept among what is others'. */
const ownFeatures = ['features.profiles', 'features.images', 'features.storage.volumes'];
/** By which staff says that members drop what the engine lets machines send: `docs/operations/incus-filter.nft`, in this version. */
const filter = { setting: 'user.innkeeper.filter', version: '1' };
const probe = 'innkeeper-probe';

/**
 * Looks for all that machines need, one thing after the other, so that each lack has words of its own. `everything`: also for the rights that
 * only a try shows, by a profile like a machine's that is taken away at once.
 */
export async function lookAt(
  options: IncusOptions,
  client: IncusClient,
  what: 'what is needed' | 'everything',
): Promise<ClusterFindings> {
  const { project, pool, bridge } = options;
  const answer = asRecord(await client.read('/1.0'), 'the server');
  const environment = asRecord(answer.environment ?? {}, 'the environment of the server');
  const extensions = Array.isArray(answer.api_extensions) ? answer.api_extensions : [];
  const nothing = { version: null, tested: null, members: [] };
  // What comes next would only repeat it.
  if (answer.auth !== 'trusted')
    return { ...nothing, problems: ['the cluster does not know our certificate'] };
  if (environment.server !== 'incus')
    return { ...nothing, problems: [`this is no Incus: ${environment.server}`] };
  const version = asText(environment.server_version, 'the version');
  const found = { version, tested: comparedToTested(version), members: [] };
  const lacking = needed.filter((each) => !extensions.includes(each));
  if (lacking.length > 0)
    return { ...found, problems: [`Incus ${version} is too old: it lacks ${lacking.join(', ')}`] };

  const there = async (path: string, name: string) => {
    const thing = await client.find(path).catch(whatForbids);
    if (typeof thing === 'string') return [`our certificate may not see the ${name}: ${thing}`];
    return thing === null ? [`the cluster has no ${name}, or does not show it to us`] : [];
  };
  const problems = [
    ...(await there(`/1.0/projects/${encodeURIComponent(project)}`, `project ${project}`)),
    ...(await there(`/1.0/storage-pools/${encodeURIComponent(pool)}`, `storage pool ${pool}`)),
    ...(await there(`/1.0/networks/${encodeURIComponent(bridge)}`, `bridge ${bridge}`)),
  ];
  if (problems.length > 0) return { ...found, problems };
  const settings = await settingsOf(options, client);
  const unfiltered = whatIsUnfiltered(project, settings);
  if (what === 'what is needed') return { ...found, problems: unfiltered };
  return {
    ...found,
    problems: [
      ...(await whatIsOthers(options, client, settings)),
      ...unfiltered,
      ...(await restrictionsOf(options, client)),
      ...(await refused(() => client.read('/1.0/resources'), 'see what members have (resources)')),
      ...(await refused(() => client.bytes('/1.0/metrics'), 'see what machines use (metrics)')),
      ...(await refused(() => makeProbe(options, client), `make machines in the project ${project}`)),
    ],
  };
}

function comparedToTested(version: string): ClusterFindings['tested'] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const difference = major - testedLine[0] || minor - testedLine[1];
  if (difference === 0) return 'tested';
  return difference < 0 ? 'older' : 'newer';
}

async function settingsOf({ project }: IncusOptions, client: IncusClient): Promise<Record<string, string>> {
  const read = await client.read(`/1.0/projects/${encodeURIComponent(project)}`);
  return asTexts(asRecord(read, 'the project').config ?? {}, 'the settings of the project');
}

/** The engine's own filters have gaps, and nothing of its API closes them or shows who has. */
function whatIsUnfiltered(project: string, settings: Record<string, string>): string[] {
  if (settings[filter.setting] === filter.version) return [];
  const gaps =
    'keeps no machine from answering as a DHCP server, nor from claiming others’ IPv6 addresses behind extension headers';
  const mend = `load docs/operations/incus-filter.nft on every member, then set ${filter.setting}=${filter.version} on the project ${project}`;
  return [`Incus ${gaps}: ${mend}`];
}

/** A project that is not ours alone: one that shares, or one in which somebody else runs machines. */
async function whatIsOthers(
  { project }: IncusOptions,
  client: IncusClient,
  settings: Record<string, string>,
): Promise<string[]> {
  if (project === 'default') return ['the project default is everybody’s: name one that is ours alone'];
  const shared = ownFeatures.filter((each) => settings[each] !== 'true');
  if (shared.length > 0)
    return [`the project ${project} keeps no things of its own: set ${shared.join(', ')} to true`];
  const instances = asList(await client.read('/1.0/instances', { recursion: '1' }), 'instances');
  const strangers = instances
    .filter(({ profiles }) => !(Array.isArray(profiles) && profiles.some((each) => /^machine-/.test(each))))
    .map(({ name }) => String(name));
  if (strangers.length === 0) return [];
  return [`the project ${project} is not ours alone: it has ${strangers.slice(0, 3).join(', ')}`];
}

/** A certificate that is kept to projects is not told why a machine went down. */
async function restrictionsOf({ certificate }: IncusOptions, client: IncusClient): Promise<string[]> {
  const print = new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase();
  const entry = await client.find(`/1.0/certificates/${print}`).catch(whatForbids);
  if (typeof entry === 'string') return [`our certificate is restricted there: ${entry}`];
  if (entry === null || asRecord(entry, 'our certificate').restricted !== true) return [];
  return [
    'our certificate is restricted there, so we are not told why a machine went down (events of kind logging)',
  ];
}

async function refused(ask: () => Promise<unknown>, right: string): Promise<string[]> {
  const reason = await ask().then(
    () => null,
    (error: unknown) => whatForbids(error),
  );
  return reason === null ? [] : [`our certificate may not ${right}: ${reason}`];
}

/** What was said against it; other failures go on. */
function whatForbids(error: unknown): string {
  const isAgainst = error instanceof IncusForbids || (error instanceof IncusRefusal && error.status < 500);
  if (isAgainst && !error.waits) return error.message;
  throw error;
}

/** A profile like a machine's: what the project does not allow, the engine refuses here. */
async function makeProbe(options: IncusOptions, client: IncusClient): Promise<void> {
  const nic = { mac: '02:00:00:00:00:01', portMbps: 100, addresses: [] };
  const devices = {
    root: { type: 'disk', path: '/', pool: options.pool, size: '1GiB' },
    eth0: nicOf(options, { nic }),
  };
  const wanted = { name: probe, config: { 'security.secureboot': 'false' }, devices };
  // What a look before this one left is as good.
  await client.change('POST', '/1.0/profiles', wanted).catch((error: unknown) => {
    if (!(error instanceof IncusRefusal) || !/already exists/i.test(error.message)) throw error;
  });
  await unlessAbsent(client.change('DELETE', `/1.0/profiles/${probe}`));
}
