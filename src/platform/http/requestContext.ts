import type { FastifyRequest } from 'fastify';
import type { Actor, Context, OrganizationContext, StaffContext } from '../context.ts';
import { logOfRequest } from '../log.ts';
import { countryOf } from './address.ts';
import type { Api } from './apiParts.ts';
import type { Caller } from './caller.ts';
import type { Route } from './route.ts';

/** Journal's words for who is not signed in. */
const strangers = { visitor: 'user', system: 'system' } as const;

/** A context of any kind of route. All have one shape; what the route's kind has none of is null. */
type AnyContext = Context & Nullable<Pick<OrganizationContext & StaffContext, 'permissions' | 'staffRole'>>;
type Nullable<T> = { [K in keyof T]: T[K] | null };

/** What the handler gets first: the parts of the API, and who asks for what. */
export function contextFor(api: Api, route: Route, request: FastifyRequest): AnyContext {
  const { caller } = request;
  return {
    db: api.db,
    clock: api.clock,
    log: logOfRequest(api.log, request.id),
    config: api.config,
    seal: api.seal,
    reactions: api.reactions,
    actor: { ...actorOf(route, caller, request), country: countryOf(request, api.config.countryHeader) },
    organizationId: caller?.organizationId ?? null,
    requestId: request.id,
    permissions: route.auth === 'organization' ? (caller?.principal.permissions ?? null) : null,
    staffRole: route.auth === 'staff' ? (caller?.principal.staffRole ?? null) : null,
  };
}

function actorOf(route: Route, caller: Caller | null, request: FastifyRequest): Actor {
  if (caller === null) {
    const type = strangers[route.actor ?? 'visitor'];
    return { type, userId: null, apiKeyId: null, ip: request.address };
  }
  const { actor } = caller.principal;
  return route.auth === 'staff' ? { ...actor, type: 'staff' } : actor;
}
