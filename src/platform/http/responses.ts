import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { type TProperties, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { bytesOf } from './bytes.ts';
import { reachOf, stopsWhenBlocked } from './reach.ts';
import { isRepeatable, type Route } from './route.ts';
import { wordsFor } from './wording.ts';

/** The envelope of every success (contract §1). */
export function envelopeOf(data: TSchema, beside: TProperties = {}): TSchema {
  return Type.Object({ success: Type.Literal(true), data, ...beside });
}

/** The body of every failure, for the description. */
export const ErrorSchema = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: "The status' short name", examples: ['Not Found'] }),
    message: Type.String({ description: 'For people; may change' }),
    code: Type.Unsafe<ErrorCode>({ $ref: '#/components/schemas/ErrorCode' }),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ examples: ['products[0].id'] }),
          message: Type.String({ examples: ['must be an integer, not a string'] }),
        }),
      ),
    ),
    request_id: Type.String({ description: 'Quote it when asking for help' }),
  },
  { description: 'Every error has this body' },
);

/** Every code a route can answer: its own, and what its kind of route always can. */
export function codesOf(route: Route): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(['malformed_request', 'rate_limited', 'internal_error', 'unavailable']);
  const add = (...more: ErrorCode[]): void => {
    for (const code of more) codes.add(code);
  };
  add('invalid_request'); // also of a route that takes nothing, when something is sent
  if ('cursor' in route.query.properties) add('invalid_cursor', 'page_too_deep');
  if (route.method !== 'GET') {
    add('body_too_large', 'unsupported_media_type');
    if (bytesOf(route.body) === null) add('invalid_json', 'duplicate_key', 'nesting_too_deep');
    add('storage_full', 'busy');
    if (route.files !== undefined) add('too_many_files');
  }
  if (route.auth !== 'public') {
    add(route.unauthorized ?? 'unauthorized');
    if (route.method !== 'GET') add('origin_refused');
    if (isRepeatable(route.method, route)) {
      add('idempotency_key_invalid', 'idempotency_key_reused', 'idempotency_in_flight');
    }
  }
  if (route.auth === 'organization') {
    if (route.organization === 'default-when-absent') add('organization_ambiguous');
    add('organization_required');
    add('forbidden');
    if (route.organization !== 'of-members') add('second_factor_required');
  }
  if (route.caller === 'when-given')
    add('unauthorized', 'organization_required', 'forbidden', 'origin_refused');
  if ((route.auth === 'account' || route.auth === 'organization') && reachOf(route) !== 'read')
    add('impersonation_refused');
  if (stopsWhenBlocked(route)) add('organization_blocked');
  if (route.auth === 'staff') add('staff_only', 'permission_denied', 'second_factor_required');
  if (route.permission !== undefined || route.staffRoles !== undefined || route.area !== undefined)
    add('permission_denied');
  if (route.sessionOnly || route.fresh) add('session_required');
  if (route.fresh) add('reauthentication_required');
  if (route.lock !== undefined) add('precondition_failed');
  if (route.drivers !== undefined) add('driver_absent');
  add(...(route.errors ?? []));
  return codes;
}

/** Holds answers against what the route declares; for tests (`CHECK_RESPONSES`). */
export interface ResponseCheck {
  /** Throws an Error that says which field is wrong. */
  success(envelope: unknown): void;
  /** Throws when the route does not declare this code. */
  failure(code: ErrorCode): void;
}

export function responseCheck(route: Route): ResponseCheck {
  const name = `${route.method} ${route.path}`;
  const { data, beside } = route;
  const codes = codesOf(route);
  return {
    success(envelope) {
      if (data === null) return;
      const isValid = checkOf(data, beside);
      // What leaves is JSON: Dates are text by then and undefined is absent.
      if (!isValid(JSON.parse(JSON.stringify(envelope)))) {
        throw new Error(`${name} answers what its schema does not allow: ${problemsOf(isValid)}`);
      }
    },
    failure(code) {
      if (!codes.has(code)) throw new Error(`${name} answers ${code}, which it does not declare in errors`);
    },
  };
}

/**
 * Made at the first answer, for all products of this process: a test asks a few of the routes, to compile them all takes seconds,
 * and the next test has a product of its own.
 */
const checks = new WeakMap<TSchema, Map<TProperties | undefined, ValidateFunction>>();

function checkOf(data: TSchema, beside: TProperties | undefined): ValidateFunction {
  const ofData = checks.get(data) ?? new Map<TProperties | undefined, ValidateFunction>();
  checks.set(data, ofData);
  const made = ofData.get(beside) ?? strictAjv().compile(closed(envelopeOf(data, beside)));
  ofData.set(beside, made);
  return made;
}

function strictAjv(): Ajv {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, validateSchema: false, meta: false });
  (formats as unknown as (ajv: Ajv) => void)(ajv);
  return ajv;
}

function problemsOf(validate: ValidateFunction): string {
  return (validate.errors ?? [])
    .map((error) => {
      const name: unknown = error.params.missingProperty ?? error.params.additionalProperty;
      const words =
        error.keyword === 'additionalProperties' ? 'is not in the schema' : wordsFor('body', error);
      return `${error.instancePath}${typeof name === 'string' ? `/${name}` : ''} ${words}`;
    })
    .join('; ');
}

/** The schema with every object refusing fields that it does not name. */
function closed(schema: unknown): Record<string, unknown> {
  return closeAll(schema) as Record<string, unknown>;
}

function closeAll(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeAll);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    copy[key] = key === 'properties' ? closeProperties(value) : closeAll(value);
  }
  if ('properties' in copy && !('additionalProperties' in copy)) copy.additionalProperties = false;
  return copy;
}

function closeProperties(properties: unknown): unknown {
  return Object.fromEntries(
    Object.entries(properties as Record<string, unknown>).map(([name, value]) => [name, closeAll(value)]),
  );
}
