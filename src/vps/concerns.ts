import { type Concern, type ConcernSource, statement } from '../platform/index.ts';
import { incarnationOf } from './machine.ts';
import { lateBackups } from './snapshots/lateBackups.ts';

/** Machines that the reconciler gave up on, and those that are nobody's. */
export const vpsConcerns: ConcernSource[] = [
  {
    kind: 'machine.error',
    subject: 'service',
    title: 'Machines that need help',
    find: statement<Concern, { limit: number }>(
      'vps.machinesInError',
      `select service_id as id, organization_id, coalesce(repaired_at, started_at, created_at) as since,
         hostname || ' is not as its owner wants it' as message
       from machines where state = 'error'
       order by coalesce(repaired_at, started_at, created_at) desc, service_id desc limit :limit`,
    ),
  },
  {
    kind: 'machine.unknown',
    subject: 'unknown_machine',
    title: 'Machines that the database does not know',
    find: statement<Concern, { limit: number }>(
      'vps.unknownMachines',
      `select u.id, null::bigint as organization_id, u.found_at as since,
         n.name || ' has a machine ' || u.machine || case when m.service_id is null then ' that no service has'
           else ', a later one of service ' || m.service_id || ' than the database knows: adopt it, or remove it where the older one is the machine,' end ||
         case when u.addresses = '{}' then '' else ' (' || array_to_string(array(
           select host(a) from unnest(u.addresses) a), ', ') || ')' end || '; it is left alone' as message
       from vps_unknown_machines u join nodes n on n.id = u.node_id
       left join machines m on m.service_id = u.service_id and m.incarnation < ${incarnationOf('u.machine')}
       order by u.found_at desc, u.id desc limit :limit`,
    ),
  },
  lateBackups,
];
