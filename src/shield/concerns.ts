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
];
