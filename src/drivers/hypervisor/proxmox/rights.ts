import { asRecord } from './answers.ts';
import type { ProxmoxClient } from './client.ts';
import type { ProxmoxOptions } from './options.ts';

/** What the token has to be allowed, by the place that a right is given for. */
export function neededRights({ pool, storage, files }: ProxmoxOptions): Record<string, readonly string[]> {
  return {
    // The cluster's firewall and how large nodes are; the journal tells who shut itself down from who was lost.
    '/': ['Sys.Audit'],
    '/nodes': ['Sys.Audit', 'Sys.Syslog'],
    [`/pool/${pool}`]: [
      ...['Pool.Audit', 'VM.Allocate', 'VM.Audit', 'VM.Config.CDROM', 'VM.Config.CPU', 'VM.Config.Disk'],
      ...['VM.Config.HWType', 'VM.Config.Memory', 'VM.Config.Network', 'VM.Config.Options', 'VM.Console'],
      ...['VM.GuestAgent.Unrestricted', 'VM.Migrate', 'VM.PowerMgmt', 'VM.Snapshot'],
    ],
    [`/storage/${storage}`]: ['Datastore.AllocateSpace', 'Datastore.Audit'],
    // Without the first nothing that was sent could be taken away again.
    [`/storage/${files}`]: ['Datastore.Allocate', 'Datastore.AllocateTemplate', 'Datastore.Audit'],
  };
}

/** The rights that the token has at a place. */
export async function grantedAt(client: ProxmoxClient, path: string): Promise<ReadonlySet<string>> {
  const answer = asRecord(await client.read('/access/permissions', { path }), 'permissions');
  return new Set(Object.keys(asRecord(answer[path] ?? {}, 'permissions')));
}

/** The rights that the token lacks, a place and its rights each: `VM.Audit, VM.Console on /pool/innkeeper`. */
export async function missingRights(client: ProxmoxClient, options: ProxmoxOptions): Promise<string[]> {
  const each = await Promise.all(
    Object.entries(neededRights(options)).map(async ([path, wanted]) => {
      const granted = await grantedAt(client, path);
      const missing = wanted.filter((right) => !granted.has(right));
      return missing.length > 0 ? [`${missing.join(', ')} on ${path}`] : [];
    }),
  );
  return each.flat();
}
