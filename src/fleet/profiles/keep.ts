import { statement, type TxContext } from '../../platform/index.ts';
import { bestFit, type Measured, type Rules } from './fit.ts';

interface MeasuredServer {
  id: number;
  profile_id: number | null;
  hardware: Omit<Measured, 'portMbps'>;
  port_mbps: number | null;
}

const inOrder = statement<Rules & { id: number }>(
  'fleet.serverProfilesInOrder',
  'select id, threads, memory_gib, model, disks, port_mbps from server_profiles order by id',
);
const holdProfiles = statement<{ locked: 1 }>(
  'fleet.holdServerProfiles',
  `select 1 as locked from pg_advisory_xact_lock_shared(hashtextextended('server_profiles', 0))`,
);
const measuredAfter = statement<MeasuredServer, { after: number; most: number }>(
  'fleet.measuredServersAfter',
  `select id, profile_id, hardware, port_mbps from servers where id > :after and hardware is not null and state <> 'retired'
   order by id limit :most for no key update`,
);
const measured = statement<MeasuredServer, { id: number }>(
  'fleet.measuredServer',
  'select id, profile_id, hardware, port_mbps from servers where id = :id and hardware is not null',
);
const write = statement<never, { id: number; profileId: number | null }>(
  'fleet.writeServerProfile',
  'update servers set profile_id = :profileId::bigint where id = :id',
);
const atOnce = 500;

/** Nobody changes profiles until the transaction ends. Before the row of a server is locked, as whoever changes one. */
export async function holdAllProfiles(tx: TxContext): Promise<void> {
  await tx.db.one(holdProfiles);
}

/** Holds a server against all profiles, as it was measured just now. Its row is locked. */
export async function fitOne(tx: TxContext, serverId: number): Promise<void> {
  // Whoever changes profiles meanwhile would not see this server, and this one not what they change.
  await holdAllProfiles(tx);
  const profiles = await tx.db.many(inOrder);
  const server = await tx.db.maybe(measured, { id: serverId });
  if (server !== null) await hold(tx, profiles, server);
}

/** The same of every server that was measured. */
export async function fitAll(tx: TxContext): Promise<void> {
  const profiles = await tx.db.many(inOrder);
  for (let after = 0; ; ) {
    const servers = await tx.db.many(measuredAfter, { after, most: atOnce });
    for (const server of servers) await hold(tx, profiles, server);
    if (servers.length < atOnce) return;
    after = servers.at(-1)?.id ?? after;
  }
}

async function hold(
  tx: TxContext,
  profiles: readonly (Rules & { id: number })[],
  { id, profile_id: before, hardware, port_mbps: portMbps }: MeasuredServer,
): Promise<void> {
  const profileId = bestFit(profiles, { ...hardware, portMbps })?.id ?? null;
  if (profileId !== before) await tx.db.run(write, { id, profileId });
}
