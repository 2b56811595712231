import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  SortBy,
  Timestamp,
} from '../../platform/http/index.ts';

const Session = named(
  'Session',
  Type.Object({
    id: Id,
    current: Type.Boolean({ description: 'Whether it is the one that this request came with' }),
    method: Choice(['password', 'passkey']),
    second_factor: Type.Boolean({ description: 'Whether a second factor or a passkey was shown' }),
    ip: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
    last_seen_at: Timestamp,
    expires_at: Timestamp,
    created_at: Timestamp,
  }),
  'A browser or program that is signed in',
);

export const SessionQuery = ListQuery({ sort: SortBy(['created_at'], '-created_at') });
export const SessionList = named('SessionList', listOf('sessions', Session));
export const SessionData = named('SessionAnswer', Type.Object({ session: Session }));
export const SessionEnded = named('SessionEnded', Type.Object({ ended: Type.Boolean() }));
export const SessionsEnded = named(
  'SessionsEnded',
  Type.Object({ ended: Type.Integer({ description: 'How many there were' }) }),
);
