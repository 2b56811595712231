/** A small API for the tests of this room: notes of organizations, with every convention in use. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Type } from 'typebox';
import { readConfig } from '../../config.ts';
import { type TravellingClock, travellingClock } from '../clock.ts';
import type { Database } from '../database/index.ts';
import { statement } from '../database/index.ts';
import { errors, fail } from '../errors.ts';
import { createSeal } from '../seal.ts';
import { answer } from './answer.ts';
import { type ApiOptions, createApi } from './api.ts';
import { Raw, Stream } from './bytes.ts';
import { limits } from './limits.ts';
import { ListQuery, listData, listOf } from './lists.ts';
import type { Authenticate, Principal } from './principal.ts';
import { routes } from './route.ts';
import { Choice, IdParams, Nothing, Nullable, Strict, Timestamp } from './schema.ts';

const demoErrors = errors({
  demo_fields: [400, 'fields are missing'],
  demo_undeclared: [409, 'No route declares this'],
});
const demoLimits = limits({ demo: { quota: 60, windowS: 60, per: 'person' } });

type DemoErrors = typeof demoErrors;
type DemoLimits = typeof demoLimits;
declare module '../errors.ts' {
  interface ErrorCatalogue extends DemoErrors {}
}
declare module './limits.ts' {
  interface LimitCatalogue extends DemoLimits {}
}
declare module './permission.ts' {
  interface PermissionCatalogue {
    'notes.write': true;
  }
}

const Note = Type.Object({
  id: Type.Integer(),
  text: Type.String(),
  mood: Nullable(Choice(['good', 'bad'])),
  author: Nullable(Type.Object({ id: Type.Integer(), name: Type.String() })),
  created_at: Timestamp,
});

const addEffect = statement<never, { note: string }>(
  'demo.effect',
  'insert into demo_effects (note) values (:note)',
);
const readNote = statement<{ text: string }, { id: number }>(
  'demo.read',
  'select text from demo_notes where id = :id for update',
);
const writeNote = statement<never, { id: number; text: string }>(
  'demo.write',
  'update demo_notes set text = :text where id = :id',
);

export const demoTables = `
  create table demo_effects (note text not null);
  create table demo_notes (id bigint primary key, text text not null);
  insert into demo_notes values (1, 'one'), (2, 'two');`;

const NewNote = Strict({
  text: Type.String({ minLength: 1, maxLength: 1_000 }),
  mood: Type.Optional(Choice(['good', 'bad'])),
  tags: Type.Optional(Type.Array(Strict({ id: Type.Integer({ minimum: 1 }) }), { maxItems: 100 })),
});

function note(id: number, text: string) {
  return { id, text, mood: 'good' as const, author: { id: 7, name: 'Ada' }, created_at: new Date(0) };
}

export const demoRoutes = routes('/dashboard/notes', { tag: 'Notes' }, (route) => {
  route.get(
    '',
    {
      auth: 'organization',
      operation: 'listNotes',
      summary: 'List notes',
      query: ListQuery({ mood: Type.Optional(Choice(['good', 'bad'])) }),
      data: listOf('notes', Note),
    },
    (_ctx, req) =>
      listData('notes', [note(1, req.query.mood ?? 'any')], {
        total: 51,
        page: req.query.page,
        limit: req.query.limit,
        nextCursor: null,
      }),
  );
  route.get(
    '/:id',
    {
      auth: 'organization',
      operation: 'getNote',
      summary: 'Get note',
      params: IdParams,
      data: Type.Object({ note: Note }),
      etag: true,
      errors: ['not_found'],
    },
    async (ctx, req) => {
      if (req.params.id === 403) throw fail('forbidden');
      const row = await ctx.db.maybe(readNote, { id: req.params.id });
      if (row === null) throw fail('not_found');
      return { note: note(req.params.id, row.text) };
    },
  );
  route.patch(
    '/:id',
    {
      auth: 'organization',
      operation: 'changeNote',
      summary: 'Change note',
      params: IdParams,
      body: Strict({ text: Type.String() }),
      data: Type.Object({ note: Note }),
      lock: (tx, req) => tx.db.maybe(readNote, { id: req.params.id }),
    },
    async (ctx, req) => {
      await ctx.db.run(writeNote, { id: req.params.id, text: req.body.text });
      return { note: note(req.params.id, req.body.text) };
    },
  );
  route.post(
    '',
    {
      auth: 'organization',
      operation: 'createNote',
      summary: 'Create note',
      permission: 'notes.write',
      body: NewNote,
      data: Type.Object({ note: Note, serial: Type.Number() }),
      errors: ['conflict'],
    },
    async (ctx, req) => {
      await ctx.db.run(addEffect, { note: req.body.text });
      if (req.body.text === 'conflict') throw fail('conflict');
      if (req.body.text === 'slow') await new Promise((resolve) => setTimeout(resolve, 150));
      return { note: note(3, req.body.text), serial: Math.random() };
    },
  );
  route.post('/poke', { auth: 'account', operation: 'poke', summary: 'Poke', data: Nothing }, () => ({}));
});

/** What `/picture` answers with. */
export const picture = { bytes: Buffer.from('one') };

export const demoOddRoutes = routes('', { tag: 'Odd' }, (route) => {
  route.get(
    '/hello',
    { auth: 'public', operation: 'hello', summary: 'Say hello', data: Type.Object({ hello: Type.String() }) },
    (ctx) => answer({ hello: ctx.actor.ip ?? '' }, { 'set-cookie': 'a=b' }),
  );
  route.get('/crash', { auth: 'public', operation: 'crash', summary: 'Crash', data: Nothing }, () => {
    throw new Error('secret: the password is 1234');
  });
  route.get(
    '/leak',
    { auth: 'public', operation: 'leak', summary: 'Leak', data: Type.Object({ name: Type.String() }) },
    () => ({ name: 'x', password_hash: 'y' }) as { name: string },
  );
  route.get(
    '/undeclared',
    { auth: 'public', operation: 'undeclared', summary: 'Undeclared', data: Nothing },
    () => {
      throw fail('demo_undeclared');
    },
  );
  route.get('/slow', { auth: 'public', operation: 'slow', summary: 'Be slow', data: Nothing }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return {};
  });
  route.get(
    '/file',
    { auth: 'public', operation: 'getFile', summary: 'Get file', produces: 'application/pdf' },
    () => ({
      body: Buffer.from('%PDF'),
      name: 'Rechnung "1" ü.pdf',
    }),
  );
  route.get(
    '/picture',
    { auth: 'public', operation: 'getPicture', summary: 'Get picture', produces: 'image/png', etag: true },
    () => ({ body: picture.bytes }),
  );
  route.get(
    '/events',
    { auth: 'public', operation: 'followEvents', summary: 'Follow', produces: 'text/event-stream' },
    () => ({
      body: Readable.from(oneEvent()),
    }),
  );
  route.post(
    '/cart/checkout',
    {
      auth: 'organization',
      organization: 'default-when-absent',
      unauthorized: 'unauthenticated',
      limit: 'demo',
      operation: 'checkout',
      summary: 'Check out',
      body: Strict({ products: Type.Array(Strict({ id: Type.Integer() })) }),
      data: Type.Object({ organization: Type.Integer() }),
      errors: ['demo_fields'],
      onInvalid: (problems) =>
        problems.some((problem) => problem.rule === 'required')
          ? fail('demo_fields', {
              details: [...problems].map(({ field, message }) => ({ field, message })),
            })
          : undefined,
    },
    (ctx) => ({ organization: ctx.organizationId }),
  );
  route.get(
    '/staff/notes',
    {
      auth: 'staff',
      operation: 'listStaffNotes',
      summary: 'List everything',
      data: Type.Object({ role: Type.String(), actor: Type.String() }),
    },
    (ctx) => ({ role: ctx.staffRole, actor: ctx.actor.type }),
  );
  route.post(
    '/keys',
    { auth: 'account', operation: 'createKey', summary: 'Create key', sessionOnly: true, data: Nothing },
    () => ({}),
  );
});

/** What the routes of {@link demoByteRoutes} were given. */
export const received: { bytes: number; actor: string }[] = [];

export const demoByteRoutes = routes('/bytes', { tag: 'Bytes' }, (route) => {
  route.post(
    '/hook',
    {
      auth: 'public',
      actor: 'system',
      operation: 'takeHook',
      summary: 'Take a call',
      body: Raw(['application/json']),
      bodyLimit: 1_000,
      data: Type.Object({ sent: Type.String() }),
    },
    (ctx, req) => {
      received.push({ bytes: req.body.length, actor: ctx.actor.type });
      return { sent: req.body.toString('latin1') };
    },
  );
  route.post(
    '/small',
    {
      auth: 'account',
      operation: 'addFile',
      summary: 'Add file',
      body: Raw(['image/*', 'application/pdf']),
      data: Type.Object({ serial: Type.Number() }),
    },
    async (ctx, req) => {
      await ctx.db.run(addEffect, { note: req.body.toString('hex') });
      return { serial: Math.random() };
    },
  );
  route.put(
    '/large',
    {
      auth: 'account',
      operation: 'upload',
      summary: 'Upload',
      body: Stream(['application/octet-stream']),
      bodyLimit: 8_000_000,
      data: Type.Object({ bytes: Type.Integer() }),
      query: Strict({ refuse: Type.Optional(Type.Boolean()), ms: Type.Optional(Type.Integer()) }),
      errors: ['conflict'],
    },
    async (ctx, req) => {
      if (req.query.refuse) throw fail('conflict');
      let bytes = 0;
      for await (const chunk of req.body) {
        bytes += (chunk as Buffer).length;
        if (req.query.ms !== undefined) await new Promise((resolve) => setTimeout(resolve, req.query.ms));
        received.push({ bytes, actor: ctx.actor.type });
      }
      return { bytes };
    },
  );
});

async function* oneEvent() {
  yield 'data: 1\n\n';
  await new Promise(() => undefined);
}

const accounts: Record<
  string,
  {
    userId: number;
    organizations: Record<number, string[]>;
    staff?: string;
    key?: boolean;
    isWeak?: boolean;
    provenAt?: Date;
  }
> = {
  ada: { userId: 7, organizations: { 1: ['notes.write'] }, key: true },
  bob: { userId: 8, organizations: { 1: [], 2: ['notes.write'] } },
  root: { userId: 9, organizations: {}, staff: 'administrator' },
  eve: { userId: 10, organizations: {}, staff: 'administrator', isWeak: true },
};

/** Credentials are names here. `calls` counts the questions; `revoke` makes a name unknown. */
export function demoAuthenticate() {
  const revoked = new Set<string>();
  const state = {
    calls: 0,
    revoke: (name: string) => revoked.add(name),
    restore: (name: string) => revoked.delete(name),
  };
  const authenticate: Authenticate = async (credential, organizationId, ip): Promise<Principal | null> => {
    state.calls += 1;
    await new Promise((resolve) => setImmediate(resolve));
    const account = accounts[credential];
    if (account === undefined || revoked.has(credential)) return null;
    const permissions = organizationId === null ? undefined : account.organizations[organizationId];
    const ids = Object.keys(account.organizations);
    return {
      actor: {
        type: account.key ? 'api_key' : 'user',
        userId: account.userId,
        apiKeyId: account.key ? 70 : null,
        ip,
      },
      sessionId: account.key ? null : account.userId * 10,
      signIn: account.key
        ? null
        : { strong: account.isWeak !== true, provenAt: account.provenAt ?? new Date(0) },
      staffRole: account.staff ?? null,
      keptTo: null,
      permissions: permissions === undefined ? null : new Set(permissions),
      defaultOrganizationId: ids.length === 1 ? Number(ids[0]) : null,
      isMember: ids.length > 0,
    };
  };
  return { authenticate, state };
}

const noDatabase = { ping: async () => undefined } as unknown as Database;

export interface Demo {
  app: FastifyInstance;
  url: string;
  port: number;
  clock: TravellingClock;
  authentication: ReturnType<typeof demoAuthenticate>['state'];
  logged: Record<string, unknown>[];
  /** Sends a request; a body that is not text or bytes is sent as JSON. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
}

export interface CallOptions {
  as?: string | null;
  organization?: number | string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  body: any;
}

/** Starts the demo on a port of its own. */
export async function startDemo(
  options: Partial<ApiOptions> & { env?: Record<string, string> } = {},
): Promise<Demo> {
  const clock = travellingClock();
  const { authenticate, state } = demoAuthenticate();
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const app = await createApi({
    config: readConfig({ RATE_LIMITS: 'off', CHECK_RESPONSES: 'on', ...options.env }),
    db: noDatabase,
    clock,
    log,
    seal: createSeal(randomBytes(32)),
    reactions: new Map(),
    drivers: {},
    authenticate,
    routes: [demoRoutes, demoOddRoutes, demoByteRoutes],
    ready: async () => undefined,
    info: { title: 'Demo', version: '1' },
    ...options,
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    app,
    url,
    port,
    clock,
    authentication: state,
    logged,
    call: (...request) => call(url, ...request),
  };
}

async function call(url: string, method: string, path: string, options: CallOptions = {}): Promise<Reply> {
  const headers: Record<string, string> = {};
  if (options.as !== null) headers.token = options.as ?? 'ada';
  if (options.organization !== null) headers['x-organization-id'] = String(options.organization ?? 1);
  const { body } = options;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body === undefined;
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...options.headers },
    body: (isRaw ? body : JSON.stringify(body)) as string,
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text };
}
