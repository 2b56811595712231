import { on, starts } from '../../events/index.ts';
import { serverReturning } from '../../fleet/index.ts';
import type { Reaction } from '../../platform/index.ts';
import { serviceTerminated } from '../../services/index.ts';
import { forgetCredentials } from '../credentials/keep.ts';
import { comeBack } from './comeBack.ts';

/** A service that ends, or that was not delivered, leaves its server to be wiped; what staff delivered by hand staff takes back. */
export const returnReactions: Reaction[] = [
  starts(serviceTerminated, comeBack, ({ subject, data }) =>
    data.on_server ? { serviceId: subject.id } : null,
  ),
  // One that was made ready for an order which does without it in the end.
  starts(serverReturning, comeBack, ({ subject, data }) =>
    data.is_left ? { leftBy: data.service_id, serverId: subject.id } : null,
  ),
  on(
    serviceTerminated,
    'dedicated.forgetCredentials',
    (tx, { subject }) => forgetCredentials(tx, subject.id),
    {
      when: (data) => data.on_server,
    },
  ),
];
