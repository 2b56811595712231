import type { TObject, TProperties } from 'typebox';
import { type ErrorCode, errorCodes, faceOf, statusName } from '../errors.ts';
import { bytesOf } from './bytes.ts';
import { type Components, collectComponents, type Json } from './components.ts';
import { factsOf } from './facts.ts';
import { headers, parameters } from './openapiParts.ts';
import { codesOf, ErrorSchema } from './responses.ts';
import { type Example, isRepeatable, type Route } from './route.ts';

/** What the description says of the API as a whole; `description` is Markdown. */
export interface ApiInfo {
  title: string;
  version: string;
  summary?: string;
  description?: string;
  contact?: { name: string; url?: string };
}

/** Something that the product sends to whoever asked for it, as its section `webhooks` tells. */
export interface Described {
  name: string;
  summary: string;
  description: string;
  body: TObject;
}

/** The OpenAPI 3.1 document of these routes, from the same schemas that validate them, and of what is sent by itself. */
export function describeApi(
  routes: readonly Route[],
  info: ApiInfo,
  webhooks: readonly Described[] = [],
): Json {
  checkOperationIds(routes);
  const components = collectComponents();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}') || '/';
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describeRoute(route, components);
  }
  const document = {
    openapi: '3.1.0',
    info: { license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }, ...info },
    servers: [{ url: '/api', description: 'This installation' }],
    tags: [...tagsOf(routes), ...(webhooks.length > 0 ? [sentTag] : [])],
    paths,
    ...(webhooks.length > 0 && { webhooks: describeWebhooks(webhooks, components) }),
    components: {
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'token',
          description: 'Your API key, or the token of your session',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key, for clients that prefer it' },
      },
      schemas: {
        ...sorted(components.schemas),
        Error: components.show(ErrorSchema),
        ErrorCode: errorCodeSchema(),
      },
      responses: failuresOf(routes),
      parameters,
      headers,
    },
  };
  // TypeBox keeps marks of its own beside the schema; JSON leaves them behind.
  return withoutUnused(JSON.parse(JSON.stringify(document)) as Json);
}

const sentTag = {
  name: 'Sent events',
  description: 'What your webhooks get: one request for each event that an endpoint has chosen.',
};

/** By Standard Webhooks 1.0. */
const sentHeaders = [
  ['webhook-id', 'The same at every try, and of one event at one endpoint: by it you know what you have'],
  [
    'webhook-timestamp',
    'Seconds since 1970 at which this try was signed; refuse what is older than five minutes',
  ],
  ['webhook-signature', 'One or several signatures with blanks between them; one of them has to be right'],
] as const;

function describeWebhooks(webhooks: readonly Described[], components: Components): Json {
  const parameters = sentHeaders.map(([name, description]) => ({
    ...{ name, in: 'header', required: true, description, schema: { type: 'string' } },
  }));
  return Object.fromEntries(
    webhooks.map(({ name, summary, description, body }) => [
      name,
      {
        post: {
          operationId: `on${camel(name)}`,
          ...{ summary, description, tags: [sentTag.name], security: [], parameters },
          requestBody: { required: true, content: { 'application/json': { schema: components.show(body) } } },
          responses: {
            200: { description: 'You have it; any other status of 200 to 299 says the same' },
            default: { description: 'It is tried again, for three days' },
          },
        },
      },
    ]),
  );
}

/** `invoice.paid` is `InvoicePaid`. */
function camel(name: string): string {
  return name.replaceAll(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase());
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

function tagsOf(routes: readonly Route[]): Json[] {
  const abouts = new Map<string, string | undefined>();
  for (const { tag, about } of routes) abouts.set(tag, abouts.get(tag) ?? about);
  return [...abouts].map(([name, description]) => ({
    name,
    ...(description !== undefined && { description }),
  }));
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A shared part that no operation of these routes refers to says nothing. */
function withoutUnused(document: Json): Json {
  const text = JSON.stringify(document);
  const components = document.components as Record<string, Json>;
  for (const kind of ['parameters', 'headers'] as const) {
    components[kind] = Object.fromEntries(
      Object.entries(components[kind] ?? {}).filter(([name]) =>
        text.includes(`#/components/${kind}/${name}"`),
      ),
    );
  }
  return document;
}

function describeRoute(route: Route, components: Components): Json {
  const hasBody = Object.keys((route.body as TObject).properties ?? { any: true }).length > 0;
  return {
    operationId: route.operation,
    summary: route.summary,
    description: [route.description, ...factsOf(route)].filter(Boolean).join('\n\n') || undefined,
    tags: [route.tag],
    security: route.auth === 'public' ? [] : [{ token: [] }, { bearer: [] }],
    parameters: parametersOf(route, components),
    ...(hasBody && route.method !== 'GET' && { requestBody: bodyOf(route, components) }),
    responses: responsesOf(route, components),
  };
}

function parametersOf(route: Route, components: Components): Json[] {
  const reference = (name: keyof typeof parameters): Json => ({ $ref: `#/components/parameters/${name}` });
  const example = route.example;
  const list = [
    ...describeProperties('path', route.params, components, example?.params),
    ...describeProperties('query', route.query, components, example?.query),
  ];
  if (route.auth === 'organization') {
    list.push(reference(headerOf(route)));
  }
  if (isRepeatable(route.method, route)) list.push(reference('IdempotencyKey'));
  if (route.lock !== undefined) list.push(reference('IfMatch'));
  if (route.etag === true) list.push(reference('IfNoneMatch'));
  return list;
}

function headerOf({ organization }: Route): keyof typeof parameters {
  if (organization === 'default-when-absent') return 'OptionalOrganizationHeader';
  return organization === 'header-or-query' ? 'OrganizationHeaderOrQuery' : 'OrganizationHeader';
}

function describeProperties(
  place: 'path' | 'query',
  object: TObject,
  components: Components,
  examples: Json = {},
): Json[] {
  const required: readonly string[] = object.required ?? [];
  return Object.entries(object.properties).map(([name, property]) => {
    const { 'x-meaning': meaning, ...schema } = property as Json;
    const description = meaning ?? schema.description;
    // A named schema keeps its own words where it stands; of any other they are said once, of the parameter.
    if (!('x-name' in schema)) delete schema.description;
    return {
      name,
      in: place,
      required: place === 'path' || (required.includes(name) && !('default' in schema)),
      ...(description !== undefined && { description }),
      schema: components.show(schema),
      ...(examples[name] !== undefined && { example: examples[name] }),
    };
  });
}

function bodyOf(route: Route, components: Components): Json {
  const bytes = bytesOf(route.body);
  if (bytes !== null) {
    return { required: true, content: Object.fromEntries(bytes.accepts.map((type) => [type, {}])) };
  }
  const required = ((route.body as TObject).required ?? []).length > 0;
  const schema = components.show(route.body);
  const { body } = route.example ?? {};
  const form =
    route.files === undefined ? null : formOf(route.body as TObject, route.files.field, components);
  return {
    required,
    content: {
      'application/json': { schema, ...(body !== undefined && { example: body }) },
      ...(form !== null && { 'multipart/form-data': { schema: form } }),
    },
  };
}

/** The same fields as a form, with the files as they are. */
function formOf(body: TObject, field: string, components: Components): Json {
  const files = { type: 'array', items: { type: 'string', contentMediaType: 'application/octet-stream' } };
  const properties = Object.entries(body.properties).map(([name, property]) => [
    name,
    name === field ? files : components.show(property),
  ]);
  return { type: 'object', required: body.required ?? [], properties: Object.fromEntries(properties) };
}

function responsesOf(route: Route, components: Components): Json {
  const responses: Record<string, Json> = { 200: successOf(route, components) };
  if (route.etag === true) responses[304] = { description: 'Not Modified' };
  const byStatus = Map.groupBy(codesOf(route), (code) => faceOf(code).status);
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      $ref: `#/components/responses/${responseName(status)}`,
      description: `${statusName(status)}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    };
  }
  return responses;
}

function successOf(route: Route, components: Components): Json {
  return {
    description: 'OK',
    headers: {
      'X-Request-Id': header('RequestId'),
      RateLimit: header('RateLimit'),
      'RateLimit-Policy': header('RateLimitPolicy'),
      ...(route.etag !== undefined && { ETag: header('ETag') }),
      ...(isRepeatable(route.method, route) && { 'Idempotency-Replayed': header('IdempotencyReplayed') }),
    },
    content:
      route.data === null
        ? { [route.produces ?? 'application/octet-stream']: {} }
        : {
            'application/json': envelopeOf(
              components.show(route.data),
              showEach(route.beside ?? {}, components),
              route.example,
            ),
          },
  };
}

/** The envelope of every success (contract §1), as the description shows it. */
function envelopeOf(data: unknown, beside: Json, example: Example | undefined): Json {
  return {
    schema: {
      type: 'object',
      required: ['success', 'data', ...Object.keys(beside)],
      properties: { success: { type: 'boolean', const: true }, data, ...beside },
    },
    ...(example !== undefined && { example: { success: true, data: example.data, ...example.beside } }),
  };
}

function showEach(schemas: TProperties, components: Components): Json {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, components.show(schema)]));
}

/** `NotFound` */
function responseName(status: number): string {
  return statusName(status).replaceAll(' ', '');
}

/** One answer for each status that something can fail with; operations say which of its codes they can give. */
function failuresOf(routes: readonly Route[]): Record<string, Json> {
  const codes = new Set(routes.flatMap((route) => [...codesOf(route)]));
  const byStatus = Map.groupBy(codes, (code) => faceOf(code).status);
  const inOrder = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(inOrder.map(([status, each]) => [responseName(status), failureOf(status, each)]));
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
    description: statusName(status),
    headers: {
      'X-Request-Id': header('RequestId'),
      ...((status === 429 || status === 503) && { 'Retry-After': header('RetryAfter') }),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: body(code) }])),
      },
    },
  };
}

/** Made when the description is: by then every room has declared its errors. */
function errorCodeSchema(): Json {
  return {
    type: 'string',
    enum: errorCodes(),
    description:
      'What went wrong, for programs. Codes stay as they are; new ones may come, so go by the status for those ' +
      'you do not know.',
  };
}

function header(name: keyof typeof headers): Json {
  return { $ref: `#/components/headers/${name}` };
}
