/** How the program ends when something goes wrong midway, against a server that misbehaves as it is told to. */
import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildTool } from './build.ts';

const home = mkdtempSync(path.join(tmpdir(), 'innkeeper-ends-'));
let tool: string;
const servers: { close: () => void }[] = [];
beforeAll(async () => {
  tool = await buildTool();
}, 60_000);
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Heard {
  method: string;
  path: string;
  key: string | undefined;
  body: string;
}

type Answering = (heard: Heard, response: ServerResponse, nth: number) => void;

/** Answers as it is told to, and keeps what it was asked. */
async function serverThat(answers: Answering) {
  const heard: Heard[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const key = request.headers['idempotency-key'] as string | undefined;
    const asked = { method: request.method ?? '', path: request.url ?? '', key, body };
    heard.push(asked);
    answers(asked, response, heard.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const { port } = server.address() as { port: number };
  const env = {
    INNKEEPER_URL: `http://127.0.0.1:${port}`,
    INNKEEPER_API_KEY: 'k',
    INNKEEPER_ORGANIZATION: '1',
  };
  return { env, heard };
}

function tell(response: ServerResponse, data: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ success: true, data }));
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string>,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ success: false, error: '', code, message: 'Not now', request_id: 'r' }));
}

interface Ended {
  exit: number;
  out: string;
  said: string;
}

function inn(argv: string[], env: Record<string, string>, input = '', program = [tool]): Promise<Ended> {
  return new Promise((resolve) => {
    const all = { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: home, COLUMNS: '120', ...env };
    const child = execFile(process.execPath, [...program, ...argv], { env: all }, (error, out, said) =>
      resolve({ exit: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, said }),
    );
    child.stdin?.end(input);
  });
}

/** At a terminal, which shows both of what it prints and says. */
function atTerminal(argv: string[], env: Record<string, string>): Promise<{ exit: number; out: string }> {
  const command = [process.execPath, tool, ...argv].map((word) => `'${word}'`).join(' ');
  const all = { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: home, TERM: 'dumb', ...env };
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env: all });
  let out = '';
  terminal.stdout.on('data', (chunk) => {
    out += chunk;
  });
  return new Promise((resolve) => terminal.on('close', (code) => resolve({ exit: code ?? -1, out })));
}

const ticket = ['tickets', 'create', '--subject', 'S', '--department', 'support', '--priority', 'low'];
const open = [...ticket, '--message', 'Hello'];
const perhaps = /Perhaps it was done\. Repeat it with --idempotency-key (\S+) and nothing is done twice\.\n$/;

describe('a change of which nobody knows whether it was done', () => {
  it('is asked about again while the first one is at work', async () => {
    const { env, heard } = await serverThat((_asked, response, nth) => {
      if (nth === 1) response.socket?.destroy();
      else if (nth < 5) refuse(response, 409, 'idempotency_in_flight', { 'retry-after': '1' });
      else tell(response, { ticket: { tid: '1' } });
    });
    expect(await inn(open, env)).toMatchObject({ exit: 0, said: '' });
    expect(heard).toHaveLength(5);
    expect(new Set(heard.map(({ key }) => key)).size).toBe(1);
  }, 20_000);

  it.each<[string, Answering]>([
    ['breaks off each time', (_asked, response) => response.socket?.destroy()],
    [
      'is still at work',
      (_asked, response) => refuse(response, 409, 'idempotency_in_flight', { 'retry-after': '3600' }),
    ],
    ['cannot say', (_asked, response) => refuse(response, 503, 'unavailable', { 'retry-after': '3600' })],
    ['has a fault', (_asked, response) => refuse(response, 500, 'internal', {})],
    [
      'is silent, and then has enough of it',
      (_asked, response, nth) =>
        nth === 1
          ? response.socket?.destroy()
          : refuse(response, 429, 'rate_limited', { 'retry-after': '3600' }),
    ],
    ['sends a page', (_asked, response) => response.end('<h1>Sign in to this network</h1>')],
    [
      'breaks off within its answer',
      (_asked, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"success":');
        setImmediate(() => response.socket?.destroy());
      },
    ],
  ])('ends with 3 and tells the key, when the server %s', async (_how, answering) => {
    const { env, heard } = await serverThat(answering);
    const { exit, out, said } = await inn(open, env);
    expect({ exit, out }, said).toEqual({ exit: 3, out: '' });
    const [, key] = perhaps.exec(said) ?? [];
    expect(new Set(heard.map((each) => each.key))).toEqual(new Set([key]));
    expect(said).not.toMatch(/\n {4}at /);
  });

  it('is not said of what was refused, nor of what is only read', async () => {
    const { env } = await serverThat(({ method }, response) =>
      method === 'POST' ? refuse(response, 409, 'conflict', {}) : response.socket?.destroy(),
    );
    const refused = await inn(open, env);
    expect(refused.exit).toBe(1);
    const unread = await inn(['tickets', 'list'], env);
    expect(unread.exit).toBe(3);
    expect(refused.said + unread.said).not.toMatch(perhaps);
  });
});

it('does not tell a key that cannot be sent, and sends one that only ends in a line break', async () => {
  const { env, heard } = await serverThat((_asked, response) => tell(response, { user: { id: 1 } }));
  const broken = await inn(['account', 'show'], { ...env, INNKEEPER_API_KEY: 'canary-1\ncanary-2' });
  expect(broken).toMatchObject({ exit: 2, out: '' });
  expect(broken.said).not.toContain('canary');
  expect(heard).toHaveLength(0);
  expect(await inn(['account', 'show'], { ...env, INNKEEPER_API_KEY: 'k\n' })).toMatchObject({ exit: 0 });
});

it('gives each machine of an order its own password, and says of which it asks', async () => {
  const { env, heard } = await serverThat((_asked, response) => tell(response, { invoice_id: 1 }));
  const machine = (id: number, ...more: string[]) => [
    ...['--products.id', String(id), '--products.options.domain', `${id}.example.com`, ...more],
  ];
  const secret = '--products.options.password';
  const passwordsOf = (body: string) =>
    (JSON.parse(body) as { products: { options: { password?: string } }[] }).products.map(
      ({ options }) => options.password,
    );
  const first = await inn(['orders', 'create', ...machine(1, secret), ...machine(2)], env, 'one\n');
  expect(first, first.said).toMatchObject({ exit: 0 });
  const both = [...machine(1, secret), ...machine(2, secret)];
  expect(await inn(['orders', 'create', ...both], env, 'one\ntwo\n')).toMatchObject({ exit: 0 });
  expect(heard.map(({ body }) => passwordsOf(body))).toEqual([
    ['one', undefined],
    ['one', 'two'],
  ]);
  const unanswered = await inn(['orders', 'create', ...both], env, 'one\n');
  expect(unanswered).toMatchObject({ exit: 2 });
  expect(unanswered.said).toMatch(/^products 2 options\.password is asked for/);
});

describe('--wait', () => {
  const item = { service_id: 5 };
  const invoice = { id: 9, status: 'unpaid', items: [item] };
  const charge = { id: 3, amount: '4.00', currency: 'EUR', state: 'pending' };
  const pay = ['invoices', 'pay', '9', '--method', 'card', '--wait'];
  const service = {
    ...{ id: 5, hostname: 'web1', domain: null, status: 'pending', provisioning_state: 'queued' },
    ...{ end_reason: null, waiting: [] as { message: string }[] },
  };

  it('waits for a payment that is on its way, and then for what it bought', async () => {
    let asked = 0;
    const held = { ...service, waiting: [{ message: 'Our staff looks at it' }] };
    const { env } = await serverThat(({ method, path: at }, response) => {
      asked += 1;
      if (method === 'POST') tell(response, { invoice, charge, redirect_url: null });
      else if (at.includes('/invoices/'))
        tell(response, { invoice: { ...invoice, status: asked < 4 ? 'unpaid' : 'paid' } });
      else
        tell(response, {
          service: asked < 6 ? held : { ...service, provisioning_state: 'done', status: 'active' },
        });
    });
    const { exit, said } = await inn(pay, env);
    expect({ exit, said }).toEqual({
      exit: 0,
      said: 'The payment is on its way.\nweb1: queued, Our staff looks at it\nweb1: active\n',
    });
  });

  it.each([
    [
      'only a person can pay',
      { invoice, charge, redirect_url: 'https://pay.example/1' },
      /Pay at https:\/\/pay/,
    ],
    ['it was declined', { invoice, charge: { ...charge, state: 'failed' }, redirect_url: null }, /declined/],
    ['nothing is paid', { invoice, charge: null, redirect_url: null }, /The invoice is unpaid/],
    [
      'the bank wants its customer there',
      { invoice, charge: { ...charge, state: 'failed', needs_customer: true }, redirect_url: null },
      /^Your bank wants you to confirm the payment\. Nothing is delivered/,
    ],
  ])('ends with 4 when %s', async (_why, answer, sentence) => {
    const { env } = await serverThat((_asked, response) => tell(response, answer));
    const { exit, said } = await inn(pay, env);
    expect(exit).toBe(4);
    expect(said).toMatch(sentence);
  });

  it.each([
    [
      { decline: 'Your bank wants you to confirm this payment.', needs_customer: true },
      'Your bank wants you to confirm the payment.',
    ],
    [{ decline: 'Not enough money', needs_customer: false }, 'The payment was declined: Not enough money.'],
    [{ decline: null, needs_customer: false }, 'The payment was declined: nobody said why.'],
  ])('says what is to be done when it failed with %j', async (why, sentence) => {
    const { env } = await serverThat(({ method }, response) => {
      if (method === 'POST') tell(response, { invoice, charge, redirect_url: null });
      else tell(response, { invoice: { ...invoice, charge: { ...charge, state: 'failed', ...why } } });
    });
    expect(await inn(pay, env)).toMatchObject({
      exit: 4,
      said: `The payment is on its way.\n${sentence} Pay at a page: inn invoices pay 9 --method card\n`,
    });
  });

  it('ends with 4 when the payment is declined meanwhile, as the invoice says', async () => {
    let asked = 0;
    const seen = (last: object) => ({ invoice: { ...invoice, charge: last } });
    const { env } = await serverThat(({ method }, response) => {
      asked += 1;
      if (method === 'POST') tell(response, { invoice, charge, redirect_url: null });
      else if (asked === 2) tell(response, seen(charge));
      // Somebody else's of the same invoice says nothing of this one.
      else if (asked === 3) tell(response, seen({ ...charge, id: 4, state: 'failed', decline: 'Another.' }));
      else tell(response, seen({ ...charge, state: 'failed', decline: 'Not enough money.' }));
    });
    expect(await inn(pay, env)).toMatchObject({
      exit: 4,
      said:
        'The payment is on its way.\n' +
        'The payment was declined: Not enough money. Pay at a page: inn invoices pay 9 --method card\n',
    });
    expect(asked).toBe(4);
  });

  it('ends with 4 when the invoice or the service is cancelled meanwhile', async () => {
    let isPaid = false;
    const { env } = await serverThat(({ method, path: at }, response) => {
      const status = isPaid ? 'paid' : 'unpaid';
      if (method === 'POST') tell(response, { invoice: { ...invoice, status }, charge, redirect_url: null });
      else if (at.includes('/invoices/')) tell(response, { invoice: { ...invoice, status: 'cancelled' } });
      else tell(response, { service: { ...service, status: 'cancelled', end_reason: 'Out of stock' } });
    });
    expect(await inn(pay, env)).toMatchObject({
      ...{ exit: 4, said: 'The payment is on its way.\nThe invoice is cancelled.\n' },
    });
    isPaid = true;
    expect(await inn(pay, env)).toMatchObject({
      ...{ exit: 4, said: 'web1: cancelled\nweb1 is cancelled. Out of stock\n' },
    });
  });

  it('does not wait for what a test key did, and says that nothing was changed', async () => {
    const { env, heard } = await serverThat((_asked, response) =>
      tell(response, { action: { id: 1, status: 'running' } }, { 'test-key': 'true' }),
    );
    const { exit, said } = await inn(['vps', 'stop', '1', '--wait'], env);
    expect({ exit, said }).toEqual({ exit: 0, said: 'The key is a test key: nothing was changed.\n' });
    expect(heard).toHaveLength(1);
  });

  it('prints first what is said only once', async () => {
    const { env } = await serverThat(({ method }, response) =>
      method === 'POST'
        ? tell(response, { action: { id: 1 }, password: 'Canary-Pass-1' })
        : refuse(response, 403, 'forbidden', {}),
    );
    const { exit, out } = await inn(['vps', 'reset-password', '1', '--wait'], env);
    expect(exit).toBe(1);
    expect(out).toContain('Canary-Pass-1');
  });
});

describe('what is no JSON', () => {
  it('is shown at a terminal when it is text, and refused there when it is none', async () => {
    const { env, heard } = await serverThat((_asked, response) => response.end('<a>\u001b[31m</a>'));
    const text = await atTerminal(['invoices', 'xml', '1'], env);
    expect(text).toMatchObject({ exit: 0 });
    expect(text.out).toContain('<a>\\u001b[31m</a>');
    const asked = heard.length;
    const bytes = await atTerminal(['invoices', 'pdf', '1'], env);
    expect(bytes).toMatchObject({ exit: 2 });
    expect(bytes.out).toContain('name a file with --output');
    expect(heard).toHaveLength(asked);
  });

  it('leaves the file as it was when it breaks off, and puts the new one there whole', async () => {
    let isWhole = false;
    const { env } = await serverThat((_asked, response) => {
      if (isWhole) return response.end('new');
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half');
      return setTimeout(() => response.socket?.destroy(), 50);
    });
    const file = path.join(home, 'kept.pdf');
    writeFileSync(file, 'old');
    const broken = await inn(['invoices', 'pdf', '1', '--output', file], env);
    expect(broken, broken.said).toMatchObject({ exit: 3 });
    expect([readFileSync(file, 'utf8'), existsSync(`${file}.part`)]).toEqual(['old', false]);
    isWhole = true;
    expect(await inn(['invoices', 'pdf', '1', '--output', file], env)).toMatchObject({ exit: 0 });
    expect([readFileSync(file, 'utf8'), existsSync(`${file}.part`)]).toEqual(['new', false]);
    const nowhere = await inn(['invoices', 'pdf', '1', '--output', path.join(home, 'no/where')], env);
    expect(nowhere).toMatchObject({ exit: 2 });
    expect(nowhere.said).toMatch(/cannot be written: ENOENT\n$/);
  });
});

it('keeps what changed in the list of sign-ins while it asked', async () => {
  const config = path.join(home, 'innkeeper/profiles.json');
  const write = (profiles: object) => writeFileSync(config, JSON.stringify({ current: 'old', profiles }));
  mkdirSync(path.dirname(config), { recursive: true });
  const old = { url: 'http://old.example/api', api_key: 'canary', organization: 1 };
  const { env } = await serverThat(({ path: at }, response) => {
    // Somebody signs the other one out.
    write({});
    tell(response, at.includes('organizations') ? { organizations: [] } : { user: { email: 'a@b.example' } });
  });
  write({ old });
  expect(await inn(['login', '--url', env.INNKEEPER_URL], {}, 'k\n')).toMatchObject({ exit: 0 });
  expect(readFileSync(config, 'utf8')).not.toContain('canary');
  rmSync(config);
});

it('runs under any name, also where a package says that all is a module', async () => {
  const place = mkdtempSync(path.join(home, 'bin-'));
  const flag = '--no-experimental-detect-module';
  for (const type of ['commonjs', 'module']) {
    writeFileSync(path.join(place, 'package.json'), JSON.stringify({ type }));
    for (const name of ['inn', 'inn.mjs', 'inn.cjs']) {
      const file = path.join(place, name);
      copyFileSync(tool, file);
      const { exit, out, said } = await inn(['vps', 'stop', '--help'], {}, '', [flag, file]);
      expect({ exit, said }, `${name} in ${type}`).toEqual({ exit: 0, said: '' });
      expect(out).toMatch(/Usage: inn(\.cjs)? vps stop ID/);
    }
  }
});
