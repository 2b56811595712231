/**
 * The conventions of HTTP, once: a room declares its endpoints with `routes`, each handler takes a context and
 * a parsed request and returns plain data. Who is asking, for which organization, what shape a request has,
 * the envelope, errors, limits, repeated requests, ETags, metrics and the description are settled here, from
 * the same declaration. The composition root builds everything with `createApi`.
 */
export { type Answer, answer, type Bytes } from './answer.ts';
export { type ApiOptions, closeApi, createApi } from './api.ts';
export { Raw, Stream } from './bytes.ts';
export { mayAsStaff, requireFresh } from './caller.ts';
export { comesFromUs, readCookie, readCredential, sessionCookie } from './credential.ts';
export { type Columns, csv } from './csv.ts';
export { exampleIds, onlyPage } from './examples.ts';
export { contentField, type FilesOption, type ReceivedFile } from './filesOption.ts';
export { type FindSource, type Found, firstOf, idIn, type StaffFindSource } from './found.ts';
export { purgeIdempotencyKeys, sealedAnswers } from './idempotency.ts';
export { networkOf } from './layers.ts';
export { type LimitClass, limits } from './limits.ts';
export { line, lineOrBlank, requireLine } from './lines.ts';
export type { ListDefinition, SortKey } from './listDefinition.ts';
export {
  decodeCursor,
  encodeCursor,
  type ListData,
  ListQuery,
  listData,
  listOf,
  type PageQuery,
  type Position,
  Search,
  SortBy,
} from './lists.ts';
export { createRegistry, type PoolCounts } from './metrics.ts';
export type { Need, NeedSource } from './needed.ts';
export { type Described, describeApi } from './openapi.ts';
export { type ListRequest, pagedList } from './pages.ts';
export type { Ask, Paint, Painted, Shown } from './painted.ts';
export type { Permission } from './permission.ts';
export { platformPersonal } from './personal.ts';
export { PossibleActions, possibleActions, type ReasonAgainst, reasonAgainstRole } from './possible.ts';
export {
  type Authenticate,
  forgetPrincipals,
  onForgotten,
  type Principal,
  type SignIn,
} from './principal.ts';
export { createProbeServer } from './probeServer.ts';
export type { Problem } from './problem.ts';
export type { RequestField, RequestFields } from './requestField.ts';
export { requestFields } from './requestFields.ts';
export {
  type Auth,
  type Declarations,
  type Example,
  eventStream,
  type GuessKeys,
  listRoutes,
  type OpenStream,
  type Req,
  type Route,
  type RouteGroup,
  routes,
} from './route.ts';
export {
  Choice,
  CountryCode,
  CurrencyCode,
  Day,
  Id,
  IdParams,
  MoneyText,
  meaning,
  Nothing,
  Nullable,
  named,
  Strict,
  shownAs,
  Timestamp,
} from './schema.ts';
export { readSite, type Site } from './site.ts';
export { createTurns } from './turns.ts';
export { validatorFor } from './validate.ts';
