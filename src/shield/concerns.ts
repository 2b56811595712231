import { type Concern, type ConcernSource, statement } from '../platform/index.ts';

/** Addresses whose edge does not do what is wanted. */
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
];
