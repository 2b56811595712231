import { type Concern, type ConcernSource, statement } from '../platform/index.ts';

/** Addresses whose edge does not do what is wanted, by rules or against attacks. */
export const shieldConcerns: ConcernSource[] = [
  {
    kind: 'shield.not_enforced',
    subject: 'service',
    title: 'Addresses whose rules are not in force',
    find: statement<Concern, { limit: number }>(
      'shield.notEnforced',
      `select service_id as id, organization_id, error_since as since,
         'The edge does not take the rules of ' || host(address) || ': ' || error as message
       from shield_addresses where error is not null order by error_since desc, service_id desc limit :limit`,
    ),
  },
  {
    kind: 'shield.mitigation_failing',
    subject: 'service',
    title: 'Attacks that are not met as they should be',
    find: statement<Concern, { limit: number }>(
      'shield.mitigationsFailing',
      `select service_id as id, organization_id, error_since as since,
         'Against the attack on ' || host(address) || ' ' || measure || ' is not in force: ' || error as message
       from shield_mitigations where error is not null and released_at is null
       order by error_since desc, shield_mitigations.id desc limit :limit`,
    ),
  },
  {
    kind: 'shield.edge_failing',
    subject: 'shield_edge',
    title: 'Edges that do not answer',
    find: statement<Concern, { limit: number }>(
      'shield.edgesFailing',
      `select id, null::bigint as organization_id, error_since as since,
         name || ' does not do what it is told: ' || error as message
       from shield_edges where error is not null order by error_since desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'shield.peer_down',
    subject: 'shield_edge',
    title: 'Routers in front that cannot be told of attacks',
    find: statement<Concern, { limit: number }>(
      'shield.peersDown',
      `select e.id, null::bigint as organization_id, e.peers_down_since as since, e.name || ': ' || (
           select string_agg((p ->> 'address') || ' is ' || (p ->> 'state') || case when (p ->> 'refusals')::int > 0
             then ', and has broken off ' || (p ->> 'refusals') || ' times' else '' end, '; ' order by p ->> 'address')
           from jsonb_array_elements(e.peers) p where p ->> 'state' <> 'established') as message
       from shield_edges e where e.peers_down_since is not null order by e.peers_down_since desc, e.id desc limit :limit`,
    ),
  },
  {
    kind: 'shield.counting_full',
    subject: 'shield_edge',
    title: 'Edges that see only a part of what is sent',
    find: statement<Concern, { limit: number }>(
      'shield.countingFull',
      `select id, null::bigint as organization_id, full_since as since,
         name || ' has no room to count all of it, so some attacks are not seen: ' || array_to_string(full_kinds, ', ') as message
       from shield_edges where full_since is not null order by full_since desc, id desc limit :limit`,
    ),
  },
];
