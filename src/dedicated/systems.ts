import { statement, type TxContext } from '../platform/index.ts';

const write = statement<never, { serviceId: number; os: string; hostname: string }>(
  'dedicated.writeSystem',
  `insert into dedicated_systems (service_id, os, hostname) values (:serviceId, :os, :hostname)
   on conflict (service_id) do update set os = excluded.os, hostname = excluded.hostname, problem = null,
     left_action_id = null, left_wanted = null, left_problem = null, left_since = null`,
);
const note = statement<never, { serviceId: number; problem: string }>(
  'dedicated.noteProblem',
  `insert into dedicated_systems (service_id, problem) values (:serviceId, :problem)
   on conflict (service_id) do update set problem = excluded.problem`,
);

const clear = statement<never, { serviceId: number }>(
  'dedicated.clearProblem',
  `update dedicated_systems set problem = null, left_action_id = null, left_wanted = null, left_problem = null, left_since = null
   where service_id = :serviceId and (problem is not null or left_action_id is not null)`,
);

/** What is on the disks of a service's server from now on. */
export async function writeSystem(
  tx: TxContext,
  serviceId: number,
  system: { os: string; hostname: string },
): Promise<void> {
  await tx.db.run(write, { serviceId, ...system });
}

/** What is on its disks does not start: why, and what its customer can do. Another installation puts it right. */
export async function noteProblem(tx: TxContext, serviceId: number, problem: string): Promise<void> {
  await tx.db.run(note, { serviceId, problem });
}

/** Its customer says that something starts from its disks again. */
export async function clearProblem(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(clear, { serviceId });
}
