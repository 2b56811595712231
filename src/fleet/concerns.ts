import { type Concern, type ConcernSource, statement } from '../platform/index.ts';

/** Of one alone nobody knows whether it is the network. */
const silentRacks = `select k.id, k.name, max(b.problem_since) as since, count(*) as bmcs
  from racks k join servers s on s.rack_id = k.id join server_bmcs b on b.server_id = s.id
  group by k.id having count(*) > 1 and bool_and(b.is_silent)`;

/** Nodes that nobody hears of or whose hosts lack something, and images that cannot be made. */
export const fleetConcerns: ConcernSource[] = [
  {
    kind: 'node.silent',
    subject: 'node',
    title: 'Nodes that are silent',
    find: statement<Concern, { limit: number }>(
      'fleet.silentNodes',
      `select id, null::bigint as organization_id, seen_at as since, name || ' was not heard of' as message
       from nodes where not reachable and state <> 'down' order by seen_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'node.troubled',
    subject: 'node',
    title: 'Nodes that take no new machines',
    find: statement<Concern, { limit: number }>(
      'fleet.troubledNodes',
      `select id, null::bigint as organization_id, troubled_at as since, name || ': ' || trouble as message
       from nodes where trouble is not null and state <> 'down' order by troubled_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'cluster.silent',
    subject: 'cluster',
    title: 'Clusters that no process of ours reaches',
    find: statement<Concern, { limit: number }>(
      'fleet.silentClusters',
      `select id, null::bigint as organization_id, troubled_at as since, name || ': ' || trouble as message
       from clusters where trouble is not null order by troubled_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'cluster.unfit',
    subject: 'cluster',
    title: 'Clusters that machines cannot run on as they are',
    find: statement<Concern, { limit: number }>(
      'fleet.unfitClusters',
      `select id, null::bigint as organization_id, checked_at as since, name || ': ' || array_to_string(problems, '. ') as message
       from clusters where check_state = 'failed' order by checked_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'rack.silent',
    subject: 'rack',
    title: 'Racks of which no BMC answers: look at the management network',
    find: statement<Concern, { limit: number }>(
      'fleet.silentRacks',
      `select id, null::bigint as organization_id, since,
         name || ': none of its ' || bmcs || ' BMCs answers, so it is the management network. Whatever waits for these servers goes on waiting' as message
       from (${silentRacks}) r order by since desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'server.bmc_lost',
    subject: 'server',
    title: 'Servers whose BMC does not answer, does not let us in, or is another one',
    find: statement<Concern, { limit: number }>(
      'fleet.lostBmcs',
      `select s.id, null::bigint as organization_id, b.problem_since as since, s.name || ': ' || b.problem as message
       from server_bmcs b join servers s on s.id = b.server_id
       where b.problem is not null and not (b.is_silent and exists (select from (${silentRacks}) r where r.id = s.rack_id))
         and not exists (select from server_assignments g where g.server_id = s.id and g.locked_out_at is not null and g.state = 'open')
       order by b.problem_since desc, b.server_id desc limit :limit`,
    ),
  },
  {
    kind: 'server.critical',
    subject: 'server',
    title: 'Servers with a sensor beyond its limits',
    find: statement<Concern, { limit: number }>(
      'fleet.criticalServers',
      `select s.id, null::bigint as organization_id, r.critical_since as since, s.name || ': ' || r.critical as message
       from server_readings r join servers s on s.id = r.server_id where r.critical is not null
       order by r.critical_since desc, r.server_id desc limit :limit`,
    ),
  },
  {
    kind: 'server.locked_out',
    subject: 'server',
    title: 'Servers that come back and whose BMC does not let us in: start them anew by hand',
    find: statement<Concern, { limit: number }>(
      'fleet.lockedOutServers',
      `select s.id, null::bigint as organization_id, g.locked_out_at as since,
         s.name || ': its BMC does not let us in. Start it anew by its button, and it gives its BMC our account from inside' as message
       from server_assignments g join servers s on s.id = g.server_id
       where g.locked_out_at is not null and g.state = 'open' order by g.locked_out_at desc, g.id desc limit :limit`,
    ),
  },
  {
    kind: 'server.differs',
    subject: 'server',
    title: 'Servers that differ from the baseline of their profile, and are kept out of stock',
    find: statement<Concern, { limit: number }>(
      'fleet.differingServers',
      `select id, null::bigint as organization_id, state_since as since, name || ': ' || coalesce(reason, '') as message
       from servers where differences is not null order by state_since desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'server.restored',
    subject: 'server',
    title:
      'Servers that may be somebody’s since the backup that was restored: compare them with what customers have',
    find: statement<Concern, { limit: number }>(
      'fleet.restoredServers',
      `select s.id, null::bigint as organization_id, r.restored_at as since,
         s.name || ' is ' || s.state || ' as of the backup, and is ' ||
           case s.state when 'held' then 'not installed for its order' else 'not sold' end || ' before the restore is released' as message
       from (select restored_at from restores where released_at is null order by id desc limit 1) r
         cross join servers s where s.state in ('ready', 'held') and s.state_since <= r.restored_at order by s.id limit :limit`,
    ),
  },
  {
    kind: 'switch.failed',
    subject: 'switch',
    title: 'Switches that could not be read',
    find: statement<Concern, { limit: number }>(
      'fleet.failedSwitches',
      `select id, null::bigint as organization_id, checked_at as since, name || ': ' || coalesce(problem, '') as message
       from switches where check_state = 'failed' order by checked_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'image.failed',
    subject: 'image',
    title: 'Operating-system images that could not be made',
    find: statement<Concern, { limit: number }>(
      'fleet.failedImages',
      `select id, null::bigint as organization_id, created_at as since, slug || ': ' || coalesce(error, '') as message
       from images where state = 'failed' order by created_at desc, id desc limit :limit`,
    ),
  },
];
