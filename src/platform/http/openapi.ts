import type { TObject, TSchema } from 'typebox';
import { type ErrorCode, faceOf, statusName } from '../errors.ts';
import { codesOf, ErrorSchema, envelopeOf } from './responses.ts';
import type { Route } from './route.ts';

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of these routes, from the same schemas that validate them. */
export function describeApi(
  routes: readonly Route[],
  info: { title: string; version: string; description?: string },
): Json {
  checkOperationIds(routes);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}') || '/';
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describeRoute(route);
  }
  const document = {
    openapi: '3.1.0',
    info: { license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }, ...info },
    servers: [{ url: '/api' }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'token', description: 'API key or session token' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same, for clients that prefer it' },
      },
      schemas: { Error: ErrorSchema },
      parameters,
      headers,
    },
  };
  // TypeBox keeps marks of its own beside the schema; JSON leaves them behind.
  return JSON.parse(JSON.stringify(document)) as Json;
}

function checkOperationIds(routes: readonly Route[]): void {
  const seen = new Map<string, Route>();
  for (const route of routes) {
    const other = seen.get(route.operation);
    if (other !== undefined) {
      throw new Error(
        `${route.method} ${route.path} and ${other.method} ${other.path} are the same operation, "${route.operation}"`,
      );
    }
    seen.set(route.operation, route);
  }
}

const parameters = {
  Organization: {
    name: 'x-organization-id',
    in: 'header',
    required: true,
    description: 'Organization whose resources are accessed',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  OptionalOrganization: {
    name: 'x-organization-id',
    in: 'header',
    required: false,
    description: 'Organization to act for; your only or default one when absent',
    schema: { type: 'integer', minimum: 1 },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes it safe to send the request again: for 24 hours the same key and body get the same answer',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'ETag of the state you read; the change is refused with 412 when it is not that any more',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'ETag you have; when it is still right the answer is 304 without a body',
    schema: { type: 'string' },
  },
};

const headers = {
  RequestId: { description: 'X-Request-Id of the request, or a new one', schema: { type: 'string' } },
  RateLimit: { description: 'What is left: `"default";r=599;t=60`', schema: { type: 'string' } },
  RateLimitPolicy: { description: 'Limits that count: `"default";q=600;w=60`', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait', schema: { type: 'integer' } },
  ETag: { description: 'Tag of this state', schema: { type: 'string' } },
  IdempotencyReplayed: { description: '`true` on a stored answer', schema: { type: 'string' } },
};

function describeRoute(route: Route): Json {
  const hasBody = Object.keys((route.body as TObject).properties ?? { any: true }).length > 0;
  return {
    operationId: route.operation,
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    tags: [route.tag],
    security: route.auth === 'public' ? [] : [{ token: [] }, { bearer: [] }],
    parameters: parametersOf(route),
    ...(hasBody && route.method !== 'GET' && { requestBody: bodyOf(route) }),
    responses: responsesOf(route),
  };
}

function parametersOf(route: Route): Json[] {
  const reference = (name: keyof typeof parameters): Json => ({ $ref: `#/components/parameters/${name}` });
  const list = [...describeProperties('path', route.params), ...describeProperties('query', route.query)];
  if (route.auth === 'organization') {
    list.push(reference(route.organization === undefined ? 'Organization' : 'OptionalOrganization'));
  }
  if (isRepeatable(route)) list.push(reference('IdempotencyKey'));
  if (route.current !== undefined) list.push(reference('IfMatch'));
  if (route.etag === true) list.push(reference('IfNoneMatch'));
  return list;
}

function describeProperties(place: 'path' | 'query', schema: TObject): Json[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = property as Json;
    return {
      name,
      in: place,
      required: place === 'path' || (required.has(name) && !('default' in rest)),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

function isRepeatable(route: Route): boolean {
  return route.method === 'POST' && route.auth !== 'public' && route.idempotency !== 'off';
}

function bodyOf(route: Route): Json {
  const required = ((route.body as TObject).required ?? []).length > 0;
  return { required, content: { 'application/json': { schema: requestSchema(route.body) } } };
}

/** A field with a default need not be sent, which a schema alone does not say. */
function requestSchema(schema: TSchema): unknown {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const copy: Json = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
    const properties = copy.properties as Record<string, Json> | undefined;
    if (Array.isArray(copy.required) && properties !== undefined) {
      copy.required = copy.required.filter((name: string) => !('default' in (properties[name] ?? {})));
    }
    return copy;
  };
  return visit(schema);
}

function responsesOf(route: Route): Json {
  const responses: Record<string, Json> = { 200: successOf(route) };
  if (route.etag === true) responses[304] = { description: 'Not Modified' };
  const byStatus = Map.groupBy(codesOf(route), (code) => faceOf(code).status);
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = failureOf(status, codes);
  }
  return responses;
}

function successOf(route: Route): Json {
  const content =
    route.data === null
      ? { [route.produces ?? 'application/octet-stream']: {} }
      : { 'application/json': { schema: envelopeOf(route.data) } };
  return {
    description: 'OK',
    headers: {
      'X-Request-Id': header('RequestId'),
      RateLimit: header('RateLimit'),
      'RateLimit-Policy': header('RateLimitPolicy'),
      ...(route.etag === true && { ETag: header('ETag') }),
      ...(isRepeatable(route) && { 'Idempotency-Replayed': header('IdempotencyReplayed') }),
    },
    content,
  };
}

function failureOf(status: number, codes: ErrorCode[]): Json {
  const body = (code: ErrorCode) => ({
    success: false,
    error: statusName(status),
    message: faceOf(code).message,
    code,
    request_id: 'kR2x0b-1f',
  });
  return {
    description: `${statusName(status)}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    ...((status === 429 || status === 503) && { headers: { 'Retry-After': header('RetryAfter') } }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: body(code) }])),
      },
    },
  };
}

function header(name: keyof typeof headers): Json {
  return { $ref: `#/components/headers/${name}` };
}
