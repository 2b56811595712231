import { type Concern, type ConcernSource, statement } from '../../platform/index.ts';

/** Services that are off because their way to another server, or back, waits for a person. */
export const dedicatedConcerns: ConcernSource[] = [
  {
    kind: 'dedicated.move_stopped',
    subject: 'service',
    title: 'Services that are off because a move to another server waits for you',
    find: statement<Concern, { limit: number }>(
      'dedicated.stoppedMoves',
      `select service_id as id, organization_id, stopped_at as since, 'the service ' || service_id || ' is off: ' || problem as message
       from dedicated_moves where stopped_at is not null order by stopped_at desc, id desc limit :limit`,
    ),
  },
];
