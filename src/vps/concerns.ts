import { type Concern, type ConcernSource, statement } from '../platform/index.ts';

/** Machines that the reconciler gave up on. */
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
];
