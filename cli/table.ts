/** The commands, made from the description of the API: one for each operation that people may call. */
import { type Field, fieldOf, fieldsOf, type Shape } from './fields.ts';
import { wordsOf } from './names.ts';

export interface Command {
  words: string[];
  method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  path: string;
  operation: string;
  summary: string;
  about: string;
  places: Field[];
  query: Field[];
  /** Null where it takes none. */
  body: Field[] | null;
  /** Of a body that is no JSON: its content type. */
  upload: string | null;
  /** Where a page of a list has its entries, and whether another one may follow. */
  list: { key: string; hasPages: boolean } | null;
  answer: 'json' | 'text' | 'bytes' | 'events';
  /** What `--wait` waits for. */
  waitsFor: 'action' | 'delivery' | null;
  takesOrganization: boolean;
  takesTag: boolean;
  takesKey: boolean;
}

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: (Parameter & { $ref?: string })[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: Shape }> };
  responses: Record<string, { content?: Record<string, { schema?: Shape }> }>;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Shape;
}

export interface Description {
  info: { version: string };
  paths: Record<string, Record<string, unknown>>;
  components: object;
}

export interface Table {
  version: string;
  commands: Command[];
}

/** Operations that no person calls. */
export const uncalled: Readonly<Record<string, string>> = {
  openUnsubscribePage: 'a page for browsers, which a mail leads to',
  unsubscribe: 'mail programs call it',
  openPaymentPage: 'a page for browsers, of a trial of payments',
  receivePaymentEvent: 'a payment provider calls it, and signs',
  enableShieldRuleByPost: 'the same as `enableShieldRule`, for clients that other companies wrote',
  disableShieldRuleByPost: 'the same as `disableShieldRule`, for clients that other companies wrote',
};

/** What stands behind the words without a flag: places of the path, and what a query cannot do without. */
export function argumentsOf({ places, query }: Command): Field[] {
  return [...places, ...query.filter(({ isRequired }) => isRequired)];
}

export function tableOf(description: Description): Table {
  const commands: Command[] = [];
  for (const [path, operations] of Object.entries(description.paths))
    for (const method of ['get', 'post', 'patch', 'put', 'delete'] as const) {
      const operation = operations[method] as Operation | undefined;
      if (operation && !Object.hasOwn(uncalled, operation.operationId))
        commands.push(commandOf(description, method, path, operation));
    }
  return { version: description.info.version, commands };
}

function commandOf(
  description: Description,
  method: Command['method'],
  path: string,
  operation: Operation,
): Command {
  const resolve = <T extends object>(of: T & { $ref?: string }): T => lookUp(description, of) as T;
  const parameters = (operation.parameters ?? []).map((each) => resolve<Parameter>(each));
  const names = parameters.map(({ name }) => name.toLowerCase());
  const fields = (place: Parameter['in']) =>
    parameters
      .filter((each) => each.in === place)
      .map(({ name, description: about, required, schema }) =>
        fieldOf(name, { ...resolve(schema), ...(about && { description: about }) }, required === true, {
          to: path,
          resolve,
        }),
      );
  const bodies = operation.requestBody?.content ?? {};
  const json = bodies['application/json']?.schema;
  const upload =
    operation.requestBody !== undefined && json === undefined ? Object.keys(bodies)[0] : undefined;
  const [type = '', answer] = Object.entries(operation.responses['200']?.content ?? {})[0] ?? [];
  const whole = answer?.schema && resolve(answer.schema);
  const data = whole?.properties?.data && resolve(whole.properties.data);
  const takesOrganization = names.includes('x-organization-id');
  return {
    ...{ words: wordsOf(method, path), method, path, operation: operation.operationId },
    ...{ summary: operation.summary ?? '', about: aboutOf(operation.description ?? '') },
    places: fields('path'),
    // A header says it as well, and is what the client sends.
    query: fields('query').filter(({ flag }) => !(takesOrganization && flag === 'organization-id')),
    body: json === undefined ? null : fieldsOf(json, { to: path, resolve }),
    upload: upload ?? null,
    list: method === 'get' && data ? listOf(data, resolve, wordsOf(method, path).at(-1) === 'list') : null,
    answer: kindOfAnswer(type),
    waitsFor: waitsFor(operation.operationId, method, data),
    takesOrganization,
    takesTag: names.includes('if-match'),
    takesKey: names.includes('idempotency-key'),
  };
}

/** A page, or whatever is called a list, or answers nothing else. */
function listOf(data: Shape, resolve: (shape: Shape) => Shape, isCalledSo: boolean): Command['list'] {
  const parts = Object.entries(data.properties ?? {});
  const hasPages = parts.some(([name]) => name === 'next_cursor');
  const [key] = parts.find(([, part]) => resolve(part).type === 'array') ?? [];
  return key !== undefined && (hasPages || isCalledSo || parts.length === 1) ? { key, hasPages } : null;
}

function waitsFor(operation: string, method: string, data: Shape | undefined): Command['waitsFor'] {
  if (operation === 'payInvoice') return 'delivery';
  return method !== 'get' && data?.properties?.action !== undefined ? 'action' : null;
}

function kindOfAnswer(type: string): Command['answer'] {
  if (type.startsWith('application/json')) return 'json';
  if (type.startsWith('text/event-stream')) return 'events';
  return /^(text\/|application\/xml)/.test(type) ? 'text' : 'bytes';
}

/** What is for whoever writes a program against the API is left out: the program knows it. */
function aboutOf(text: string): string {
  return text
    .split('\n\n')
    .filter((part) => !/^(Beside what any request|Fails with:|At most \d+ times)/.test(part))
    .join('\n\n');
}

function lookUp(description: Description, of: object & { $ref?: string }): object {
  if (of.$ref === undefined) return of;
  const { $ref, ...rest } = of;
  let at: unknown = description;
  for (const step of $ref.split('/').slice(1)) at = (at as Record<string, unknown>)[step];
  return { ...lookUp(description, at as object), ...rest };
}
