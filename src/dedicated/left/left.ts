import {
  type Concern,
  type ConcernSource,
  type Context,
  statement,
  type TxContext,
} from '../../platform/index.ts';

/** How the power of a server was to be after what was done with it had failed. */
export type Wanted = 'on' | 'off';

/** The action after which a server of a service was left otherwise than it was. */
interface Left {
  serviceId: number;
  actionId: number;
}

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
const noteProblem = statement<never, { serviceId: number; actionId: number; problem: string }>(
  'dedicated.noteLeftProblem',
  `update dedicated_systems set left_problem = :problem where service_id = :serviceId and left_action_id = :actionId and left_problem is distinct from :problem`,
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

/** After that action the server could not be put back as it was; why is staff's. */
export async function noteLeft(
  tx: TxContext,
  left: Left & { wanted: Wanted; problem: string },
): Promise<void> {
  await tx.db.run(note, { ...left, now: tx.clock.now() });
}

/** Why it cannot be put back still. */
export async function noteLeftProblem(
  ctx: Context,
  { serviceId, actionId }: Left,
  problem: string,
): Promise<void> {
  await ctx.db.run(noteProblem, { serviceId, actionId, problem });
}

/** It is as somebody wants it by now. */
export async function clearLeft(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(clear, { serviceId });
}

/** How the server of a service was to be after this action, and is not yet; null: somebody has seen to it. */
export async function findLeft(ctx: Context, { serviceId, actionId }: Left): Promise<Wanted | null> {
  const left = await ctx.db.maybe(byService, { serviceId });
  return left?.actionId === actionId ? left.wanted : null;
}

/** What its customer reads while it is so. */
export function wordsOfLeft(wanted: Wanted): string {
  return wanted === 'on'
    ? 'After something with it failed the server could not be started again, and may be off. We go on trying, and our staff has been told; you can start it yourself as well'
    : 'After something with it failed the server could not be switched off, and may run our system instead of yours. We go on trying, and our staff has been told';
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
           '. This is tried until it is so: have its BMC answer; or ' ||
           case y.left_wanted when 'on' then 'start the server by its button' else 'pull its power' end as message
       from dedicated_systems y join services s on s.id = y.service_id
       where y.left_since is not null and s.status = 'active' order by y.left_since desc, y.service_id desc limit :limit`,
    ),
  },
];
