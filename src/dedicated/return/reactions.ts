import { on, starts } from '../../events/index.ts';
import type { Reaction } from '../../platform/index.ts';
import { serviceTerminated } from '../../services/index.ts';
import { forgetCredentials } from '../credentials/keep.ts';
import { comeBack } from './comeBack.ts';

/** A service that ends leaves its server to be wiped; what staff delivered by hand staff takes back. */
export const returnReactions: Reaction[] = [
  starts(serviceTerminated, comeBack, ({ subject, data }) =>
    data.on_server ? { serviceId: subject.id } : null,
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
