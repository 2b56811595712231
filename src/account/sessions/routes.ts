import { IdParams, type Principal, routes } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';
import { examples } from '../examples.ts';
import { listSignIns } from '../signIn/history.ts';
import * as History from '../signIn/schema.ts';
import { lockUser } from '../users.ts';
import { endOtherSessions, endSession } from './end.ts';
import { listSessions, readSession } from './list.ts';
import * as S from './schema.ts';

const group = { tag: 'Sessions', about: 'Where you are signed in, and who tried to be.', examples };

// About the person, so whoever is in no organization names none.
const own = { auth: 'organization', organization: 'of-members' } as const;
/** What changes by itself while somebody looks. */
const etag = { without: ['last_seen_at'] };

export const sessionRoutes = routes('/dashboard/account', group, (route) => {
  route.get(
    '/sessions',
    {
      ...own,
      operation: 'listSessions',
      summary: 'List sessions',
      description: 'The browsers and programs that are signed in to your account.',
      query: S.SessionQuery,
      data: S.SessionList,
      etag,
    },
    (ctx, req) => listSessions(ctx, req.query, req.principal.sessionId),
  );
  route.delete(
    '/sessions',
    {
      ...own,
      limit: 'revoke',
      operation: 'endOtherSessions',
      summary: 'End all other sessions',
      description: 'All but the one that asks; asked for with an API key, all of them.',
      data: S.SessionsEnded,
      errors: ['permission_denied'],
      lock: (tx) => lockUser(tx, tx.actor.userId),
    },
    (ctx, req) => {
      requireWhole(req.principal);
      return endOtherSessions(ctx, numberOf(req.principal));
    },
  );
  route.get(
    '/sessions/:id',
    {
      ...own,
      operation: 'getSession',
      summary: 'Get session',
      description: 'One session of your account.',
      params: IdParams,
      data: S.SessionData,
      errors: ['not_found', 'forbidden'],
      etag,
    },
    (ctx, req) => readSession(ctx, req.params.id, req.principal.sessionId),
  );
  route.delete(
    '/sessions/:id',
    {
      ...own,
      limit: 'revoke',
      operation: 'endSession',
      summary: 'End session',
      description: 'Ends one session of your account at once, also the one that asks.',
      params: IdParams,
      data: S.SessionEnded,
      errors: ['not_found', 'forbidden', 'permission_denied'],
      lock: (tx) => lockUser(tx, tx.actor.userId),
    },
    (ctx, req) => {
      requireWhole(req.principal);
      return endSession(ctx, req.params.id);
    },
  );
  route.get(
    '/sign-ins',
    {
      ...own,
      operation: 'listSignIns',
      summary: 'List sign-ins',
      description: 'When and from where somebody signed in to your account, or tried to.',
      query: History.SignInQuery,
      data: History.SignInList,
    },
    (ctx, req) => listSignIns(ctx, req.query),
  );
});

/** A key that is kept to an area has nothing to do with how people sign in. */
function requireWhole({ keptTo }: Principal): void {
  if (keptTo === null) return;
  throw fail('permission_denied', {
    message: `Your key is kept to ${[...keptTo].join(' and ') || 'no area'}`,
  });
}

function numberOf({ sessionId }: Principal): number | null {
  return typeof sessionId === 'number' ? sessionId : null;
}
