/**
 * The typed client of the API, for programs and for the dashboard: no dependency at run time, types generated from
 * the description (`generate.ts`). Paths, shapes and error codes are those of `/api/openapi.json`.
 */
export { type Answer, type Call, Client, type ClientOptions } from './client.ts';
export { ApiError, type ErrorCode, type ErrorDetail, UnreachableError } from './errors.ts';
export type {
  BesideOf,
  BodyOf,
  CallOptions,
  DataOf,
  EventName,
  Method,
  OperationAt,
  OperationName,
  PathOf,
  Schema,
} from './types.ts';
