import { IdParams, type RouteGroup, routes } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import { lockKey } from './change.ts';
import { createKey, endKey, listKeys, readKey, renewKey, updateKey } from './ownKeys.ts';
import * as S from './schema.ts';

const group = {
  tag: 'API keys',
  about:
    'What your programs sign in with. A key may do what your role, its areas, its scopes, its organizations and the address it ' +
    'is used from all allow.',
  examples,
};

// About the person, so whoever is in no organization names none.
const own = { auth: 'organization', organization: 'of-members' } as const;
/** Answers hold what lets in, which is kept nowhere. */
const endangering = { ...own, fresh: true } as const;

/** `scopes` are the names of all permissions, which the rooms upstairs declare. */
export function apiKeyRoutes(scopes: readonly string[]): RouteGroup {
  const { NewApiKey, ApiKeyChange } = S.keyRequests(scopes);
  return routes('/dashboard/account/api-keys', group, (route) => {
    route.get(
      '',
      {
        ...own,
        operation: 'listApiKeys',
        summary: 'List API keys',
        description: 'The keys of your account. Revoked ones are gone.',
        query: S.ApiKeyQuery,
        data: S.ApiKeyList,
      },
      (ctx, req) => listKeys(ctx, req.query),
    );
    route.post(
      '',
      {
        ...endangering,
        idempotency: 'off',
        limit: 'new-key',
        operation: 'createApiKey',
        summary: 'Create API key',
        description:
          'Makes a key. `token` is the whole key, shown this once. What the body leaves out the key is not kept to. A `test` key ' +
          'gets real answers, and nothing changes: what it asks for is done and taken back.',
        body: NewApiKey,
        data: S.ApiKeyMade,
        errors: ['too_many', 'second_factor_required', 'not_found'],
      },
      (ctx, req) => createKey(ctx, req.body, req),
    );
    route.get(
      '/:id',
      {
        ...own,
        operation: 'getApiKey',
        summary: 'Get API key',
        description: 'One key of your account, without what it opens with.',
        params: IdParams,
        data: S.ApiKeyData,
        errors: ['not_found', 'forbidden'],
        etag: { without: ['lastUsed', 'last_used_ip'] },
      },
      (ctx, req) => readKey(ctx, req.params.id),
    );
    route.patch(
      '/:id',
      {
        ...endangering,
        operation: 'updateApiKey',
        summary: 'Update API key',
        description: 'What is absent stays, null is kept to nothing. It counts from the next request on.',
        params: IdParams,
        body: ApiKeyChange,
        data: S.ApiKeyData,
        errors: ['not_found', 'forbidden', 'conflict'],
        lock: (tx, req) => lockKey(tx, req.params.id),
      },
      (ctx, req) => updateKey(ctx, req.params.id, req.body),
    );
    route.post(
      '/:id/rotate',
      {
        ...endangering,
        idempotency: 'off',
        operation: 'rotateApiKey',
        summary: 'Rotate API key',
        description:
          'Makes a key that takes the place of one, kept to the same and for as long as that one was made for. The old one goes ' +
          'on for the overlap, so that programs can be told.',
        params: IdParams,
        body: S.ApiKeyRotation,
        data: S.ApiKeyRotated,
        errors: ['not_found', 'forbidden', 'conflict', 'too_many', 'second_factor_required'],
      },
      (ctx, req) => renewKey(ctx, req.params.id, req.body.overlap_hours ?? 24, req),
    );
    route.delete(
      '/:id',
      {
        ...endangering,
        limit: 'revoke',
        operation: 'revokeApiKey',
        summary: 'Revoke API key',
        description: 'Ends a key of yours at once.',
        params: IdParams,
        data: S.ApiKeyRevoked,
        errors: ['not_found', 'forbidden'],
        lock: (tx, req) => lockKey(tx, req.params.id),
      },
      (ctx, req) => endKey(ctx, req.params.id),
    );
  });
}
