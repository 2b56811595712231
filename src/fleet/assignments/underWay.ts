import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import type { Context } from '../../platform/index.ts';
import type { AssignmentFailure, AssignmentState } from './rows.ts';

/** What our installer does with servers, by the jobs that have it done. */
export const installingJobs = [
  ...['dedicated.provision', 'dedicated.return', 'dedicated.reinstall'],
  ...['dedicated.rescue', 'dedicated.rescueOff', 'dedicated.move'],
] as const;

/** What a server under way waits for right now; see {@link waitsFor}. */
export const waits = [
  ...(['turn', 'power', 'start', 'proof', 'installer', 'image', 'greeting', 'bmc', 'staff'] as const),
] as const;

type Waits = (typeof waits)[number];

interface Row {
  job_id: number;
  job: string;
  job_state: 'ready' | 'running' | 'stuck';
  created_at: Date;
  error_step: string | null;
  error_code: string | null;
  error_message: string | null;
  server_id: number;
  server: string;
  rack_id: number | null;
  rack: string | null;
  service_id: number | null;
  kind: 'wipe' | 'install' | 'rescue' | null;
  state: AssignmentState | null;
  step: string | null;
  bytes: number | null;
  tree_bytes: number | null;
  disks: number | null;
  wiped: number | null;
  tries: number | null;
  powered_at: Date | null;
  heard_at: Date | null;
  failure_code: AssignmentFailure | null;
  failure: string | null;
  is_claimed: boolean;
}

// A service holds its server from checkout on; a move is about the server that the service is to get.
const serverOf = `coalesce((j.payload ->> 'toServerId')::bigint, (j.payload ->> 'serverId')::bigint,
    (select s.id from servers s where s.service_id = (j.payload ->> 'serviceId')::bigint))`;
const underWay = `
  select j.id, j.name, j.state, j.created_at, j.error_step, j.error_code, j.error_message, v.id as server_id, v.name as server, v.rack_id,
    coalesce(v.service_id, v.move_service_id) as service_id
  from jobs j join servers v on v.id = ${serverOf}
  where j.name in (${installingJobs.map((name) => `'${name}'`).join(', ')})
    and (j.state in ('ready', 'running') or (j.state = 'stuck' and j.dismissed_at is null))`;

const installations = pagedList<Row>({
  name: 'fleet.installations',
  from: `(${underWay}) t`,
  select: `select t.id as job_id, t.name as job, t.state as job_state, t.created_at, t.error_step, t.error_code, t.error_message, t.server_id, t.server, t.rack_id,
    r.name as rack, t.service_id, g.kind, g.state, g.step, g.bytes, g.tree_bytes, jsonb_array_length(coalesce(g.wipe, g.disks)) as disks,
    (select count(*)::int from jsonb_object_keys(g.erasures)) as wiped, g.tries, g.powered_at, g.heard_at, g.failure_code, g.failure,
    exists (select from server_starts a where a.assignment_id = g.id and a.secret_hash is not null and not a.proved) as is_claimed
    from (${underWay}) t left join racks r on r.id = t.rack_id
    left join server_assignments g on g.server_id = t.server_id and g.state in ('open', 'working')`,
  // Jobs are numbered in the order in which they were asked for.
  key: { by: 't.id', type: 'bigint', of: (row) => row.job_id },
  sorts: { created_at: null },
  order: 'created_at',
});

/** What is being installed, wiped or rescued, the oldest first unless sorted. */
export async function listInstallations(ctx: Context, query: ListRequest) {
  const { rows, at } = await installations(ctx, query);
  return listData('installations', rows.map(view), at);
}

function view(row: Row) {
  const { state, step } = row;
  return {
    ...{ job_id: row.job_id, job: row.job, since: row.created_at },
    ...{ server_id: row.server_id, server: row.server, rack_id: row.rack_id, rack: row.rack },
    ...{ service_id: row.service_id, task: row.kind, step: state === 'working' ? step : row.error_step },
    ...{ bytes: row.bytes, of_bytes: row.bytes === null ? null : row.tree_bytes },
    ...{ disks: row.kind === 'rescue' ? null : row.disks, wiped: row.kind === 'rescue' ? null : row.wiped },
    ...{ tries: row.tries, heard_at: row.heard_at, waits_for: waitsFor(row) },
    message: row.failure ?? row.error_message,
  };
}

function waitsFor(row: Row): Waits {
  const { job_state: job, error_step: step, error_code: code, state } = row;
  if (job === 'stuck') return 'staff';
  if (code === 'bmc_silent') return 'bmc';
  if (state === 'open') return row.powered_at === null ? 'power' : row.is_claimed ? 'proof' : 'start';
  if (state === 'working') return row.failure_code === 'image_unusable' ? 'image' : 'installer';
  if (step === 'ready') return 'greeting';
  return step === null ? 'turn' : 'power';
}
