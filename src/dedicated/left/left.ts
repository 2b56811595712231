import {
  type Concern,
  type ConcernSource,
  type Context,
  statement,
  type TxContext,
} from '../../platform/index.ts';

/** How the power of a server was to be after what was done with it had failed. */
export type Wanted = 'on' | 'off';

const note = statement<
  never,
  { serviceId: number; actionId: number; wanted: Wanted; problem: string; now: Date }
>(
  'dedicated.noteLeft',
  `insert into dedicated_systems (service_id, left_action_id, left_wanted, left_problem, left_since)
   values (:serviceId, :actionId, :wanted, :problem, :now)
   on conflict (service_id) do update set left_action_id = excluded.left_action_id, left_wanted = excluded.left_wanted,
     left_problem = excluded.left_problem, left_since = excluded.left_since`,
);
const clear = statement<never, { serviceId: number }>(
  'dedicated.clearLeft',
  `update dedicated_systems set left_action_id = null, left_wanted = null, left_problem = null, left_since = null
   where service_id = :serviceId and left_action_id is not null`,
);
const byService = statement<{ actionId: number; wanted: Wanted }, { serviceId: number }>(
  'dedicated.leftServer',
  `select left_action_id as "actionId", left_wanted as wanted from dedicated_systems where service_id = :serviceId and left_action_id is not null`,
);

/** After that action the server could not be switched to what it was before; why is staff's. */
export async function noteLeft(
  tx: TxContext,
  left: { serviceId: number; actionId: number; wanted: Wanted; problem: string },
): Promise<void> {
  await tx.db.run(note, { ...left, now: tx.clock.now() });
}

/** It was switched by somebody, or to what it was. */
export async function clearLeft(ctx: Context, serviceId: number): Promise<void> {
  await ctx.db.run(clear, { serviceId });
}

/** How the server of a service was to be after what failed last, and may not be; null: somebody has seen to it. */
export async function findLeft(ctx: Context, serviceId: number): Promise<Wanted | null> {
  return (await ctx.db.maybe(byService, { serviceId }))?.wanted ?? null;
}

/** The same, after this action. */
export async function findLeftBy(
  ctx: Context,
  { serviceId, actionId }: { serviceId: number; actionId: number },
): Promise<Wanted | null> {
  const left = await ctx.db.maybe(byService, { serviceId });
  return left?.actionId === actionId ? left.wanted : null;
}

/** What its customer reads while it is so. */
export function wordsOfLeft(wanted: Wanted): string {
  return wanted === 'on'
    ? 'After something with it failed the server could not be started again: it may be off, or run our system instead of yours. Our staff has been told; you can start or restart it yourself as well'
    : 'After something with it failed the server could not be switched off, and may run our system instead of yours. Our staff has been told';
}

/** Servers of customers that a failure left otherwise than they were. */
export const leftConcerns: ConcernSource[] = [
  {
    kind: 'dedicated.not_put_back',
    subject: 'service',
    title: 'Servers of customers that could not be started or switched off again after something failed',
    find: statement<Concern, { limit: number }>(
      'dedicated.leftServers',
      `select y.service_id as id, s.organization_id, y.left_since as since,
         'the server of the service ' || y.service_id || ' was to be ' || y.left_wanted || ' again: ' || y.left_problem ||
           '. Have its BMC answer, and ' ||
           case y.left_wanted when 'on' then 'start or restart' else 'stop' end || ' it here: this ends with that' as message
       from dedicated_systems y join services s on s.id = y.service_id
       where y.left_since is not null and s.status = 'active' order by y.left_since desc, y.service_id desc limit :limit`,
    ),
  },
];
