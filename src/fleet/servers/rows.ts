import type { Inventory } from '../../drivers/installer/index.ts';
import { statement } from '../../platform/index.ts';
import type { Baseline } from '../baselines/compare.ts';
import type { Reached } from './bmc.ts';
import { viewHardware } from './hardware.ts';
import { hardwareDifferences, viewDifference } from './seen.ts';
import { type AtWork, actionsOf, type CustomerWork, type PowerAction, type ServerState } from './states.ts';

/** What was heard of a BMC; moments as text. */
interface Heard {
  power: 'on' | 'off' | null;
  heard_at: string | null;
  asked_at: string | null;
  problem: string | null;
  /** Who it is; empty: it has no UUID. */
  uuid: string | null;
  other_uuid: string | null;
  /** What is done with the power of its server right now. */
  action: PowerAction | null;
  action_since: string | null;
  action_problem: string | null;
}

export interface ServerRow {
  id: number;
  name: string;
  serial: string;
  state: ServerState;
  reason: string | null;
  state_since: Date;
  profile_id: number | null;
  profile: string | null;
  service_id: number | null;
  /** The service that is to get it instead of the one it has, or has left it. */
  move_service_id: number | null;
  customer_work: CustomerWork | null;
  /** Why its customer cannot use it, as staff found it; null: they can. */
  out_of_order: string | null;
  at_work: AtWork | null;
  in_rescue: boolean;
  /** It is a service's as of a backup, nobody has released that, and nothing was begun with it since. */
  is_of_backup: boolean;
  rack_id: number | null;
  rack: string | null;
  location: string | null;
  unit: number | null;
  height: number;
  macs: string[];
  ports: { mac: string; switch_id: number | null; switch: string | null; switch_port: string | null }[];
  bmc: (Reached & Heard) | null;
  disks: { serial: string; model: string | null; installed_at: string; removed_at: string | null }[];
  note: string | null;
  hardware: Inventory | null;
  /** The port that it started from when it was proved last, and how fast that is in Mbit/s; null: not known. */
  start_mac: string | null;
  port_mbps: number | null;
  measured_at: Date | null;
  /** What it said that it has when it was started for work last; null: it was not since it was measured. */
  seen_hardware: Inventory | null;
  seen_at: Date | null;
  /** How it was found beside what it has; null: nobody has looked. */
  observed: Baseline | null;
  observed_at: Date | null;
  /** How it differs from the baseline of its profile, for which it is kept out of stock; null: it is not. */
  differences: string[] | null;
  created_at: Date;
}

/** By which a list is sorted and searched; each has an index. */
export const byName = 'lower(t.name) collate "C"';
export const bySerial = 'lower(t.serial) collate "C"';

/** All that rooms above do with a server for the service that has it. */
export const serviceJobs = [
  ...['dedicated.provision', 'dedicated.return', 'dedicated.suspend', 'dedicated.resume'],
  ...['dedicated.reinstall', 'dedicated.rescue', 'dedicated.rescueOff', 'dedicated.move'],
] as const;

// One that its service has left comes back by a job of its own, whatever is done with the server that the service has now.
const jobAbout = `name in (${serviceJobs.map((name) => `'${name}'`).join(', ')}) and payload @> case
      when t.state = 'returning' and t.move_service_id is not null then jsonb_build_object('leftBy', t.move_service_id, 'serverId', t.id)
      else jsonb_build_object('serviceId', coalesce(t.service_id, t.move_service_id)) end`;
/** {@link AtWork} of the row `t` of `servers`. An order that nobody has paid is its customer's. */
const atWork = `case when t.service_id is null and t.move_service_id is null then null
    when exists (select from jobs where state = 'ready' and ${jobAbout}) or exists (select from jobs where state = 'running' and ${jobAbout})
      or exists (select from jobs where state in ('failed', 'stuck') and dismissed_at is null and ${jobAbout}) then 'job'
    when t.move_service_id is not null then 'nothing'
    when exists (select from services v where v.id = t.service_id and (v.status in ('terminated', 'cancelled')
      or (t.state = 'held' and v.status = 'pending' and v.provisioning_state = 'running'))) then 'nothing'
    else 'customer' end`;
/** Its customer's is no matter of staff's. */
const inRescue = `t.service_id is null and exists (select from server_assignments g
    where g.server_id = t.id and g.kind = 'rescue' and g.state in ('open', 'working'))`;
const isOfBackup = `exists (select from (select restored_at from restores where released_at is null order by id desc limit 1) b
    where t.state_since <= b.restored_at and not exists (select from server_assignments g
      where g.server_id = t.id and g.state in ('open', 'working') and g.opened_at > b.restored_at))`;

export const selectServer = `
  select t.id, t.name, t.serial, t.state, t.reason, t.state_since, t.profile_id, f.name as profile, t.service_id, t.move_service_id, t.customer_work, t.out_of_order, t.rack_id, r.name as rack, r.location, t.unit, t.height, t.note,
    t.hardware, t.start_mac::text as start_mac, t.port_mbps, t.measured_at, t.seen_hardware, t.seen_at, t.observed, t.observed_at, t.differences, t.created_at, ${byName} as by_name, ${atWork} as at_work, ${inRescue} as in_rescue, ${isOfBackup} as is_of_backup,
    (select coalesce(jsonb_agg(p.mac order by p.position), '[]') from server_ports p where p.server_id = t.id) as macs,
    (select coalesce(jsonb_agg(jsonb_build_object('mac', p.mac, 'switch_id', p.switch_id, 'switch', w.name,
       'switch_port', p.switch_port) order by p.position), '[]')
     from server_ports p left join switches w on w.id = p.switch_id where p.server_id = t.id) as ports,
    (select jsonb_build_object('kind', b.kind, 'address', host(b.address), 'port', b.port, 'user', b.username,
       'certificate', b.certificate, 'power', b.power, 'heard_at', b.heard_at, 'asked_at', b.asked_at, 'problem', b.problem, 'uuid', b.uuid, 'other_uuid', b.other_uuid,
       'action', b.power_action, 'action_since', b.power_action_since, 'action_problem', b.power_problem)
     from server_bmcs b where b.server_id = t.id) as bmc,
    (select coalesce(jsonb_agg(jsonb_build_object('serial', d.serial, 'model', d.model, 'installed_at', d.installed_at,
       'removed_at', d.removed_at) order by d.id), '[]') from server_disks d where d.server_id = t.id) as disks
  from servers t left join racks r on r.id = t.rack_id left join server_profiles f on f.id = t.profile_id`;

export const serverById = statement<ServerRow, { id: number }>(
  'fleet.server',
  `${selectServer} where t.id = :id`,
);

export const lockRow = statement<never, { id: number }>(
  'fleet.lockServer',
  'select id from servers where id = :id for update',
);

/** As staff sees it. */
export function viewServer(row: ServerRow) {
  const moment = (text: string | null) => (text === null ? null : new Date(text));
  return {
    ...{ id: row.id, name: row.name, serial: row.serial, state: row.state, reason: row.reason },
    ...{ profile_id: row.profile_id, profile: row.profile, service_id: row.service_id },
    ...{ move_service_id: row.move_service_id, out_of_order: row.out_of_order, in_rescue: row.in_rescue },
    ...{ state_since: row.state_since, rack_id: row.rack_id, rack: row.rack, location: row.location },
    ...{ unit: row.unit, height: row.height, macs: row.macs, note: row.note },
    bmc: row.bmc && {
      ...{ ...row.bmc, heard_at: moment(row.bmc.heard_at), asked_at: moment(row.bmc.asked_at) },
      action_since: moment(row.bmc.action_since),
    },
    ports: row.ports,
    disks: row.disks.map(({ serial, model, installed_at: installed, removed_at: removed }) => ({
      ...{ serial, model, installed_at: new Date(installed), removed_at: moment(removed) },
    })),
    hardware: row.hardware && viewHardware(row.hardware),
    ...{ start_mac: row.start_mac, port_mbps: row.port_mbps },
    measured_at: row.measured_at,
    hardware_differences: hardwareDifferences({
      ...{
        hardware: row.hardware,
        measuredAt: row.measured_at,
        seen: row.seen_hardware,
        seenAt: row.seen_at,
      },
      disks: row.disks.map(({ serial, model, installed_at: installed, removed_at: removed }) => ({
        ...{ serial, model, installedAt: new Date(installed), removedAt: moment(removed) },
      })),
    }).map(viewDifference),
    seen_at: row.seen_at,
    ...{ observed: row.observed, observed_at: row.observed_at, differences: row.differences },
    actions: actionsOf(row),
    created_at: row.created_at,
  };
}
