import { record } from '../../events/index.ts';
import { type Context, fail, statement, type TxContext, transaction } from '../../platform/index.ts';
import { enrolmentClosed, enrolmentOpened } from '../events.ts';

/** After so long without a word a network counts as served by nobody. */
const silentMs = 60_000;

interface NetworkRow {
  name: string;
  interface: string;
  address: string;
  problem: string | null;
  seen_at: Date;
}

const windowNow = statement<{ opened_at: Date; open_until: Date }>(
  'fleet.enrolment',
  'select opened_at, open_until from server_enrolment',
);
const writeWindow = statement<never, { now: Date; until: Date }>(
  'fleet.openEnrolment',
  `insert into server_enrolment (opened_at, open_until) values (:now, :until)
   on conflict (is_one) do update set open_until = excluded.open_until,
     opened_at = case when server_enrolment.open_until > :now then server_enrolment.opened_at else excluded.opened_at end`,
);
const closeWindow = statement<never, { now: Date }>(
  'fleet.closeEnrolment',
  'update server_enrolment set open_until = :now where open_until > :now',
);
const networks = statement<NetworkRow>(
  'fleet.serverNetworks',
  'select name, interface, host(address) as address, problem, seen_at from server_networks order by name',
);
const hear = statement<
  never,
  { name: string; interface: string; address: string; problem: string | null; now: Date }
>(
  'fleet.hearServerNetwork',
  `insert into server_networks (name, interface, address, problem, seen_at) values (:name, :interface, :address, :problem, :now)
   on conflict (name) do update set interface = excluded.interface, address = excluded.address, problem = excluded.problem,
     seen_at = excluded.seen_at`,
);
const leave = statement<never, { name: string }>(
  'fleet.leaveServerNetwork',
  'delete from server_networks where name = :name',
);

/** Since when machines that nobody knows may start from the network; null: they may not. */
export async function enrolmentSince(ctx: Context): Promise<Date | null> {
  const now = await ctx.db.maybe(windowNow);
  return now !== null && now.open_until > ctx.clock.now() ? now.opened_at : null;
}

export async function readEnrolment(ctx: Context) {
  const since = await enrolmentSince(ctx);
  const window = since === null ? null : await ctx.db.maybe(windowNow);
  const all = await ctx.db.many(networks);
  return {
    enrolment: {
      is_open: window !== null,
      opened_at: window?.opened_at ?? null,
      open_until: window?.open_until ?? null,
      networks: all.map((network) => ({ ...network, is_served: isServed(ctx, network) })),
    },
  };
}

/** Lets machines that nobody knows start from the network for so long, from now on. `conflict` where no process serves such a network. */
export async function openEnrolment(ctx: Context, { hours }: { hours: number }) {
  return transaction(ctx, 'fleet.openEnrolment', async (tx) => {
    const served = (await tx.db.many(networks)).filter((network) => isServed(tx, network));
    if (served.length === 0) throw fail('conflict', { message: nowhere });
    const now = tx.clock.now();
    const until = new Date(now.getTime() + hours * 3_600_000);
    await tx.db.run(writeWindow, { now, until });
    await record(tx, enrolmentOpened, { ...aboutEnrolment, data: { until: until.toISOString() } });
    return readEnrolment(tx);
  });
}

/** Nobody who is not known starts from the network any more. Those in the waiting list stay there. */
export async function closeEnrolment(ctx: Context) {
  return transaction(ctx, 'fleet.closeEnrolment', async (tx) => {
    if ((await tx.db.run(closeWindow, { now: tx.clock.now() })) > 0)
      await record(tx, enrolmentClosed, { ...aboutEnrolment, data: {} });
    return readEnrolment(tx);
  });
}

/** The process `name` serves a network, or cannot. */
export async function hearServerNetwork(
  ctx: Context,
  network: { name: string; interface: string; address: string; problem: string | null },
): Promise<void> {
  await ctx.db.run(hear, { ...network, now: ctx.clock.now() });
}

/** It serves none any more. */
export async function leaveServerNetwork(ctx: Context, name: string): Promise<void> {
  await ctx.db.run(leave, { name });
}

function isServed({ clock }: Context | TxContext, { problem, seen_at: seen }: NetworkRow): boolean {
  return problem === null && clock.now().getTime() - seen.getTime() < silentMs;
}

const nowhere =
  'No process of yours serves a network that servers start from: set RACK_INTERFACE and RACK_ADDRESSES where its cable is';

export const aboutEnrolment = { subject: { type: 'enrolment', id: 1 }, organizationId: null } as const;
