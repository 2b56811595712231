import fc, { type Arbitrary } from 'fast-check';
import type { Demo } from '../../src/demo/index.ts';
import { vpsCart } from '../orders.ts';
import { hostileText, type Schema, valueIn } from './values.ts';

/** A request as it goes out; `body` is text, so that it need not be JSON at all. */
export interface FuzzRequest {
  /** The operation it was made for. */
  path: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

interface Operation {
  operationId: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: object;
}

/** What is known to be there, so that some requests reach more than a 404. It grows while the fuzzing goes on. */
export interface Known {
  demo: Demo;
  ids: number[];
  /** Most requests ask about what was made last. */
  note(id: number): void;
}

const methodsWithBody = new Set(['POST', 'PUT', 'PATCH']);

/** Requests for any operation of the description: most of them valid, some nearly, some hostile. */
export function anyRequest(document: OpenApi, known: Known): Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return fc
    .constantFrom(...operations)
    .chain(({ path, method, operation }) =>
      fc.record({
        path: fc.constant(path),
        method: fc.constant(method),
        url: urlOf(path, operation, known),
        headers: headersOf(path, known),
        body: methodsWithBody.has(method) ? bodyOf(operation, known) : fc.constant(undefined),
      }),
    )
    .map((request) => ({
      ...request,
      headers:
        request.body === undefined
          ? request.headers
          : { 'content-type': 'application/json', ...request.headers },
    }));
}

function idIn(known: Known): Arbitrary<number> {
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.nat().map((n) => known.ids[known.ids.length - 1 - (n % known.ids.length)] ?? 1),
    },
    { weight: 1, arbitrary: fc.constantFrom(1, 2, 3, 4, Number.MAX_SAFE_INTEGER) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) },
  );
}

function urlOf(path: string, operation: Operation, known: Known): Arbitrary<string> {
  const place = (where: string) => operation.parameters.filter((parameter) => parameter.in === where);
  const params = place('path').map((parameter) => {
    const isId = parameter.schema.type === 'integer';
    const proper = isId ? idIn(known).map(String) : valueIn(parameter.schema).map(String);
    const any = fc.oneof({ weight: 15, arbitrary: proper }, { weight: 1, arbitrary: hostileText });
    return any.map((value) => [parameter.name, value] as const);
  });
  const queries = place('query').map((parameter) => {
    const proper = valueIn(parameter.schema).map(String);
    const any = fc.oneof({ weight: 12, arbitrary: proper }, { weight: 1, arbitrary: hostileText });
    return sometimes(
      any.map((value) => [parameter.name, value] as const),
      2,
    );
  });
  const stray = sometimes(fc.tuple(hostileText, hostileText), 30);
  return fc.tuple(fc.tuple(...params), fc.tuple(...queries), stray).map(([inPath, inQuery, extra]) => {
    let url = path;
    for (const [name, value] of inPath) url = url.replace(`{${name}}`, encode(value) || '0');
    const pairs = [...inQuery, extra].filter((pair) => pair !== null);
    const query = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    return query === '' ? url : `${url}?${query}`;
  });
}

/** Once in so many times; null otherwise. */
function sometimes<T>(value: Arbitrary<T>, in1: number): Arbitrary<T | null> {
  return fc.oneof({ weight: 1, arbitrary: value }, { weight: in1 - 1, arbitrary: fc.constant(null) });
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function headersOf(path: string, { demo }: Known): Arbitrary<Record<string, string>> {
  const as = (who: { api_key: string; organization_id?: number }): Record<string, string> => ({
    token: who.api_key,
    ...(who.organization_id ? { 'x-organization-id': String(who.organization_id) } : {}),
  });
  const right = path.startsWith('/staff') ? as(demo.staff) : as(demo.customer);
  const who = fc.oneof(
    { weight: 12, arbitrary: fc.constant(right) },
    { weight: 1, arbitrary: fc.constant(as(demo.other_customer)) },
    { weight: 1, arbitrary: fc.constant(as(demo.staff)) },
    { weight: 1, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: header.map((token) => ({ token })) },
    { weight: 1, arbitrary: header.map((id) => ({ ...right, 'x-organization-id': id })) },
  );
  const more = fc.oneof(
    { weight: 12, arbitrary: fc.constant({}) },
    { weight: 2, arbitrary: fc.uuid().map((key) => ({ 'idempotency-key': key })) },
    { weight: 1, arbitrary: header.map((key) => ({ 'idempotency-key': key })) },
    { weight: 1, arbitrary: header.map((tag) => ({ 'if-match': tag })) },
    { weight: 1, arbitrary: header.map((tag) => ({ 'if-none-match': tag })) },
    { weight: 1, arbitrary: header.map((type) => ({ 'content-type': type })) },
    { weight: 1, arbitrary: header.map((cookie) => ({ cookie })) },
  );
  return fc
    .tuple(who, more)
    .map(([identity, extra]) => ({ ...identity, ...extra }) as Record<string, string>);
}

/** What a header can carry at all: the rest never leaves a client. */
const header = fc.oneof(
  fc.constantFrom('', '0', 'null', 'a'.repeat(4_000), '*', '"x"', 'W/"x"', 'application/json; charset=utf-8'),
  fc.constantFrom('text/plain', 'application/xml', '__Host-innkeeper=x', "' or 1=1 --", '9007199254740993'),
  fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) }),
);

function bodyOf(operation: Operation, known: Known): Arbitrary<string | undefined> {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const proper = properBody(operation, schema, known);
  const text = proper.map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 14, arbitrary: text },
    { weight: 3, arbitrary: proper.chain(spoiled).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: hostileBody },
    { weight: 1, arbitrary: text.chain((whole) => fc.nat(whole.length).map((at) => whole.slice(0, at))) },
  );
}

function properBody(operation: Operation, schema: Schema | undefined, known: Known): Arbitrary<unknown> {
  const any: Arbitrary<unknown> = schema ? valueIn(schema) : fc.constant({});
  if (!['checkout', 'quoteCart'].includes(operation.operationId)) return any;
  const cart = fc
    .record({
      option1: fc.integer({ min: 1, max: 3 }),
      option5: fc.integer({ min: 0, max: 1 }),
      domain: fc.constantFrom('web1.example.com', 'a', 'x--y.example'),
      password: fc.constantFrom('Canary-Pass-1', 'Пароль-Пароль-9', '$(reboot) Aa1'),
    })
    .map((change) => vpsCart(known.demo, change));
  const other = fc.constantFrom(known.demo.products.hosting, known.demo.products.domain).map((id) => ({
    products: [
      {
        id,
        cycle: 'annually',
        type: id === known.demo.products.domain ? 'Domain' : 'Hosting',
        domain: 'a.example',
      },
    ],
  }));
  return fc.oneof(
    { weight: 4, arbitrary: cart },
    { weight: 1, arbitrary: other },
    { weight: 2, arbitrary: any },
  );
}

const odd = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 1e308, 2 ** 53, [], {}, [[]], '', ' '),
);

/** A value with one thing in it replaced, removed or added. */
function spoiled(value: unknown): Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return odd;
  const keys = Object.keys(value);
  const copy = (): Record<string, unknown> => structuredClone(value) as Record<string, unknown>;
  const added = fc.tuple(hostileText, odd).map(([key, extra]) => ({ ...copy(), [key]: extra }));
  if (keys.length === 0) return added;
  const at = fc.constantFrom(...keys);
  const replaced = fc.tuple(at, odd).map(([key, other]) => {
    const changed = copy();
    changed[key] = other;
    return changed as unknown;
  });
  const removed = at.map((key) => {
    const changed = copy();
    delete changed[key];
    return changed as unknown;
  });
  const deeper = at.chain((key) =>
    spoiled((value as Record<string, unknown>)[key]).map((inner) => {
      const changed = copy();
      changed[key] = inner;
      return changed as unknown;
    }),
  );
  return fc.oneof(replaced, removed, added, deeper);
}

const hostileBody = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      'null',
      '[]',
      '""',
      '1',
      '{',
      '{"a":1,"a":2}',
      '{"__proto__":{"x":1}}',
      '\u0000',
      '﻿{}',
      '{"a":1e999}',
    ],
    `${'['.repeat(40)}${']'.repeat(40)}`,
    `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
    `{"a":"${'x'.repeat(1_100_000)}"}`,
    '{"constructor":{"prototype":{"x":1}}}',
    '{"a":"\\ud800"}',
    '{"a":"\\u0000"}',
  ),
  fc.json(),
  fc.string(),
);
