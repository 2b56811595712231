import type {
  DiskSource,
  InstallPlan,
  Plan,
  RescuePlan,
  TreeName,
  Wiped,
} from '../../drivers/installer/index.ts';
import { type Context, type SealedValue, statement, type TxContext } from '../../platform/index.ts';

/** What the installer is to do, but for what is known only once a start is proved: which bytes the system has, from which port it started, and whom it asks for names then. */
export type Work =
  | { task: 'wipe'; wipe: string[] }
  | (Omit<InstallPlan, 'image' | 'identity'> & {
      identity: Omit<InstallPlan['identity'], 'mac' | 'nameservers'>;
    })
  | Omit<RescuePlan, 'mac' | 'nameservers'>;

export type AssignmentState = 'open' | 'working' | 'done' | 'failed' | 'cancelled';

/** Why the installer did not come to its end. */
export type AssignmentFailure =
  /** It did not start, or was not heard of any more. */
  | 'server_silent'
  /** It has a disk more or fewer than was measured, or another. */
  | 'other_disks'
  /** The port that its addresses go to is slower than it was sold with. */
  | 'port_too_slow'
  /** A disk could not be wiped. */
  | 'disk_not_wiped'
  /** What it was sent of the system was cut, had another checksum, or could not be had here. */
  | 'image_unusable'
  /** Anything else that it said. */
  | 'server_failed';

/** How a disk was wiped, as it is kept. */
export interface Erasure extends Wiped {
  /** As it was measured; null: it was not. */
  model: string | null;
  /** When its end was reported; ISO 8601. */
  endedAt: string;
}

export interface Assignment {
  id: number;
  server_id: number;
  /** Whose server comes back; null: of any other work. */
  service_id: number | null;
  /** Of a server that comes back: that service has had it, and its customer is shown how it was wiped. */
  of_tenant: boolean;
  kind: Plan['task'] & ('wipe' | 'install' | 'rescue');
  state: AssignmentState;
  plan: Buffer | null;
  tree: TreeName | null;
  /** What it downloads and writes to one disk, where it installs no tree. */
  disk_image: DiskSource | null;
  tree_sha256: string | null;
  tree_bytes: number | null;
  disks: string[];
  /** Which of them alone are wiped, of a server that is somebody's; null: all of them. */
  wipe: string[] | null;
  step: string | null;
  bytes: number | null;
  erasures: Record<string, Erasure>;
  failure_code: AssignmentFailure | null;
  failure: string | null;
  tries: number;
  /** How often a start of its server was proved and began with it. */
  begun: number;
  /** What the installer was at when it began anew without an end; null: it has not, or had said nothing yet. */
  broke_off_at: string | null;
  opened_at: Date;
  powered_at: Date | null;
  heard_at: Date | null;
  ended_at: Date | null;
  /** When the server was given its plan first; null: nothing was done to a disk. */
  given_at: Date | null;
  /** Since when the rescue system of the last start runs; null: it does not. */
  reached_at: Date | null;
  /** Since when the BMC of a server that comes back does not let us in; null: it does. */
  locked_out_at: Date | null;
}

const columns = `id, server_id, service_id, of_tenant, kind, state, plan, tree, disk_image, tree_sha256, tree_bytes, disks, wipe, step, bytes, erasures, failure_code, failure, tries,
  opened_at, powered_at, heard_at, ended_at, given_at, reached_at, locked_out_at, begun, broke_off_at`;
export const assignmentById = statement<Assignment, { id: number }>(
  'fleet.assignment',
  `select ${columns} from server_assignments where id = :id`,
);
export const lockAssignment = statement<Assignment, { id: number }>(
  'fleet.lockAssignment',
  `select ${columns} from server_assignments where id = :id for update`,
);
export const lastOfService = statement<Assignment, { serviceId: number }>(
  'fleet.assignmentOfService',
  // Of several servers that it had, the one that was not wiped: that is what its customer has to know.
  `select ${columns} from (select distinct on (server_id) * from server_assignments where service_id = :serviceId and of_tenant
     order by server_id, id desc) last order by state in ('failed', 'cancelled') desc, id desc limit 1`,
);
export const lastInstallation = statement<Assignment, { serverId: number; since: Date }>(
  'fleet.lastInstallation',
  `select ${columns} from server_assignments
   where server_id = :serverId and kind = 'install' and opened_at >= :since order by id desc limit 1`,
);
export const unfinishedOf = statement<{ id: number }, { serverId: number }>(
  'fleet.unfinishedAssignment',
  `select id from server_assignments where server_id = :serverId and state in ('open', 'working')`,
);
export const sealedPlans = statement<SealedValue, { limit: number }>(
  'fleet.sealedPlans',
  `select plan as sealed, 'plan of assignment ' || id as context from server_assignments where plan is not null order by id limit :limit`,
);

const contextOf = (id: number) => `plan of assignment ${id}`;

export function sealWork({ seal }: Context, id: number, work: Work): Buffer {
  return seal.close(JSON.stringify(work), contextOf(id));
}

export function openWork({ seal }: Context, id: number, sealed: Buffer): Work {
  return JSON.parse(seal.open(sealed, contextOf(id))) as Work;
}

const end = statement<
  never,
  { id: number; state: AssignmentState; code: AssignmentFailure | null; failure: string | null; now: Date }
>(
  'fleet.endAssignment',
  `update server_assignments set state = :state, failure_code = :code, failure = :failure, plan = null, ended_at = :now where id = :id`,
);

/** Its work is over: the server is to start its disks from now on. One that is locked by the caller, and not over yet. */
export async function endAssignment(tx: TxContext, id: number, state: 'done' | 'cancelled'): Promise<void> {
  await tx.db.run(end, { id, state, code: null, failure: null, now: tx.clock.now() });
}

export async function failAssignment(
  tx: TxContext,
  id: number,
  code: AssignmentFailure,
  failure: string,
): Promise<void> {
  await tx.db.run(end, { id, state: 'failed', code, failure, now: tx.clock.now() });
}

/** Whether it goes on: nobody has ended it. */
export function isUnfinished({ state }: Pick<Assignment, 'state'>): boolean {
  return state === 'open' || state === 'working';
}
