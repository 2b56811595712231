import { type TSchema, Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';

const area = (words: string) => Type.Boolean({ description: words });
const areas = {
  billing: area('Whether it is for money and orders'),
  shield: area('Whether it is for the shield'),
  vps: area('Whether it is for services and machines'),
};
const about = {
  scopes: 'Permissions that it is kept to, of those that your role and its areas allow; null for all of them',
  organization_ids: 'Organizations that it is kept to; null for all of yours',
  ip_allowlist: 'Addresses and networks (CIDR, IPv4 and IPv6) that it is good from; null for everywhere',
};
const most = 50;

/** A list that is not empty, or null: an empty one would be read as nothing by some and as everything by others. */
const keptTo = <T extends TSchema>(item: T, description: string) =>
  Nullable(Type.Array(item, { minItems: 1, maxItems: most, description }));

/** A key, as far as it is shown again. */
export const ApiKey = named(
  'ApiKey',
  Type.Object({
    id: Id,
    name: Type.String(),
    key: Type.String({ description: 'The first characters; the whole key was shown once' }),
    ...areas,
    scopes: Nullable(Type.Array(Type.String(), { description: about.scopes })),
    organization_ids: Nullable(Type.Array(Id, { description: about.organization_ids })),
    ip_allowlist: Nullable(Type.Array(Type.String(), { description: about.ip_allowlist })),
    test: Type.Boolean({ description: 'Whether all that it asks for is tried out and taken back' }),
    expires_at: Nullable(Timestamp),
    created_at: Timestamp,
    lastUsed: Nullable(Timestamp),
    last_used_ip: Nullable(Type.String()),
    current: Type.Boolean({ description: 'Whether it is the one that this request came with' }),
  }),
  'A key, as far as it is shown again',
);

export const ApiKeyQuery = ListQuery({ sort: SortBy(['created_at', 'name'], '-created_at') });
export const ApiKeyList = named('ApiKeyList', listOf('api_keys', ApiKey));
export const ApiKeyData = named('ApiKeyAnswer', Type.Object({ api_key: ApiKey }));
const Token = Type.String({ description: 'The whole key, for the header `token`; shown this once' });
export const ApiKeyMade = named('ApiKeyMade', Type.Object({ api_key: ApiKey, token: Token }));
export const ApiKeyRotated = named(
  'ApiKeyRotated',
  Type.Object({
    api_key: ApiKey,
    token: Token,
    replaced: named(
      'ReplacedApiKey',
      Type.Object({ id: Id, expires_at: Timestamp }),
      'The key that it takes the place of, and when that one ends',
    ),
  }),
);
export const ApiKeyRevoked = named('ApiKeyRevoked', Type.Object({ revoked: Type.Boolean() }));
export const ApiKeyRotation = named(
  'ApiKeyRotation',
  Strict({
    overlap_hours: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 720, description: 'How long the old key goes on; 24 when absent' }),
    ),
  }),
);

const Name = line(100, { description: 'What it is for' });

/** What is asked of a key; its scopes are the permissions that there are. */
export function keyRequests(scopes: readonly string[]) {
  const limits = {
    billing: Type.Optional(areas.billing),
    shield: Type.Optional(areas.shield),
    vps: Type.Optional(areas.vps),
    scopes: Type.Optional(keptTo(named('Permission', Choice(scopes), 'What a role allows'), about.scopes)),
    organization_ids: Type.Optional(keptTo(Id, about.organization_ids)),
    ip_allowlist: Type.Optional(
      keptTo(Type.String({ minLength: 1, maxLength: 50, examples: ['192.0.2.0/24'] }), about.ip_allowlist),
    ),
    expires_at: Type.Optional(Nullable(Timestamp)),
  };
  return {
    NewApiKey: named(
      'NewApiKey',
      Strict({
        name: Name,
        ...limits,
        test: Type.Optional(
          Type.Boolean({
            description:
              'Of a key for trying out: answers are real, nothing changes, and a header says `test-key: true`',
          }),
        ),
      }),
    ),
    ApiKeyChange: named('ApiKeyChange', Strict({ name: Type.Optional(Name), ...limits })),
  };
}
