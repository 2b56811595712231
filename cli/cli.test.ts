/** The program as a process, against a running product. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ourDescription } from '../client/description.ts';
import { startTestProduct, type TestProduct, until } from '../test/product.ts';
import { buildTool } from './build.ts';
import { exits } from './failures.ts';
import { wordsOfBody } from './flags.ts';
import { helpOf, usageOf } from './help.ts';
import { commandIn, general, understand } from './parse.ts';
import { own } from './run.ts';
import { type Command, type Description, type Table, tableOf, uncalled } from './table.ts';

let product: TestProduct;
let tool: string;
let description: Description;
let table: Table;
const home = mkdtempSync(path.join(tmpdir(), 'innkeeper-inn-'));
beforeAll(async () => {
  description = ourDescription() as unknown as Description;
  table = tableOf(description);
  [product, tool] = await Promise.all([startTestProduct(), buildTool()]);
});
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await product?.stop();
});

interface Ended {
  exit: number;
  out: string;
  said: string;
}

/** Nothing of the environment but what a person has in a new shell. */
function inn(argv: string[], env: Record<string, string> = {}, input?: string): Promise<Ended> {
  return new Promise((resolve) => {
    const all = { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: home, COLUMNS: '120', ...env };
    const child = execFile(process.execPath, [tool, ...argv], { env: all }, (error, out, said) =>
      resolve({ exit: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, said }),
    );
    child.stdin?.end(input ?? '');
  });
}

/** As the demonstration's customer. */
function asCustomer(argv: string[], input?: string): Promise<Ended> {
  const { api_key: key, organization_id: id } = product.demo.customer;
  const env = { INNKEEPER_URL: product.url, INNKEEPER_API_KEY: key, INNKEEPER_ORGANIZATION: String(id) };
  return inn(argv, env, input);
}

async function done(argv: string[], input?: string): Promise<string> {
  const { exit, out, said } = await asCustomer(argv, input);
  if (exit !== 0) throw new Error(`${argv.join(' ')} ended with ${exit}: ${said}`);
  return out;
}

describe('the list of commands', () => {
  it('has one for each operation of the API, and each has an operation', () => {
    const operations = Object.values(
      description.paths as Record<string, Record<string, { operationId?: string }>>,
    )
      .flatMap((of) => Object.values(of).map(({ operationId }) => operationId ?? ''))
      .filter((name) => name !== '');
    const commanded = table.commands.map(({ operation }) => operation);
    expect([...commanded, ...Object.keys(uncalled)].sort()).toEqual(operations.sort());
    expect(operations.length).toBeGreaterThan(250);
  });

  it('has a name for each, which is nobody else and begins nobody else', () => {
    const names = table.commands.map(({ words }) => words.join(' '));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(names.filter((name) => names.some((other) => other.startsWith(`${name} `)))).toEqual([]);
    expect(names.filter((name) => !/^[a-z0-9-]+( [a-z0-9-]+)*$/.test(name))).toEqual([]);
  });

  it('says of a list that it is one', () => {
    const lists = table.commands.filter(({ list }) => list?.hasPages).map(({ words }) => words.join(' '));
    expect(lists.filter((name) => !/ (list|activity|calendar)$/.test(name))).toEqual([]);
  });

  it('has no flag that means two things', () => {
    for (const command of table.commands) {
      const own = [...command.query, ...(command.body ?? [])].map(({ flag }) => flag);
      const others = general.filter(({ of }) => of(command)).map(({ flag }) => flag);
      const all = [...own, ...others, ...own.map((flag) => `no-${flag}`)];
      expect(
        all.filter((flag, at) => all.indexOf(flag) !== at),
        command.words.join(' '),
      ).toEqual([]);
    }
  });

  it('has help for each, with all that it takes, and no line wider than a terminal', () => {
    for (const command of table.commands) {
      const help = helpOf('inn', command);
      expect(help.split('\n')[0]).toBe(command.summary);
      for (const { flag } of [
        ...(command.body ?? []),
        ...command.query.filter(({ isRequired }) => !isRequired),
      ])
        expect(help, command.words.join(' ')).toMatch(new RegExp(`--(\\[no-\\])?${flag}\\b`));
      expect(help.split('\n').filter((line) => line.length > 170)).toEqual([]);
    }
  });

  it('understands every example of the description, written as flags', () => {
    for (const command of table.commands.filter(({ body }) => body !== null)) {
      const example = withFiles(exampleOf(command));
      if (example === undefined) continue;
      const places = [...command.places, ...command.query.filter(({ isRequired }) => isRequired)].map(
        () => '1',
      );
      const typed = understand(
        command,
        [...places, ...wordsOfBody(example, command.path)],
        usageOf('inn', command),
      );
      expect(withoutAsked(typed.body, command.path), command.words.join(' ')).toEqual(
        withoutAsked(example, command.path),
      );
    }
  });
});

describe('the guide', () => {
  const guide = readFileSync(path.join(import.meta.dirname, '../docs/cli.md'), 'utf8');

  it('has commands that are understood as they stand', () => {
    const lines = [...guide.matchAll(/^inn (.+)$/gm)].map(([, line = '']) => line.split(' '));
    expect(lines.length).toBeGreaterThan(15);
    for (const line of lines) {
      const { words, rest } = commandIn(line, [...table.commands, ...own]);
      const command = table.commands.find((each) => each.words.join(' ') === words.join(' '));
      const isOwn = own.some((each) => each.words.join(' ') === words.join(' '));
      expect(isOwn || command !== undefined, line.join(' ')).toBe(true);
      if (command !== undefined) understand(command, rest, line.join(' '));
    }
  });

  it('names each code that it ends with', () => {
    const codes = [...guide.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(codes).toEqual(Object.values(exits));
  });
});

it('prices what the guide orders', async () => {
  const guide = readFileSync(path.join(import.meta.dirname, '../docs/cli.md'), 'utf8');
  const [, line = ''] = /^inn orders create (.+)$/m.exec(guide) ?? [];
  const { vps } = product.demo.products;
  const flags = line.replace(/(?<=--products.id )\d+/, String(vps)).replace('debian', 'tiny');
  expect(await done(['orders', 'quote', ...flags.split(' ')], 'Canary-Pass-1\n')).toMatch(/^total +4\.00$/m);
});

it('orders, pays, waits, lists, stops and ends a machine', async () => {
  const name = `inn-${Date.now().toString(36)}.example.com`;
  const options = ['1', '10', '1', '1', '0', 'tiny', '1gbit', 'AMS'].flatMap((value, at) => [
    `--products.options.option${at + 1}`,
    value,
  ]);
  const cart = ['--products.id', String(product.demo.products.vps), '--products.cycle', 'monthly'];
  const more = ['--products.type', 'Hosting', ...options, '--products.options.domain', name];
  const secret = '--products.options.password';
  expect(await done(['orders', 'quote', ...cart, ...more, secret], 'Canary-Pass-1\n')).toMatch(
    /^total +4\.00$/m,
  );
  const ordered = await done(['orders', 'create', ...cart, ...more, secret, '--json'], 'Canary-Pass-1\n');
  const { data } = JSON.parse(ordered) as { data: { invoice_id: number; service_ids: number[] } };
  const paid = await asCustomer(['invoices', 'pay', String(data.invoice_id), '--method', 'credit', '--wait']);
  expect(paid).toMatchObject({ exit: 0 });
  expect(paid.out).toMatch(/^ *status +paid$/m);
  expect(paid.said).toMatch(new RegExp(`${name}: active\n$`));
  const listed = await done(['services', 'list', '--status', 'active', '--all']);
  expect(listed).toMatch(new RegExp(`^${data.service_ids[0]} .*${name}`, 'm'));
  expect(listed.split('\n').filter((line) => line.length > 120)).toEqual([]);
  const stopped = await asCustomer(['vps', 'stop', name, '--wait']);
  expect(stopped).toMatchObject({ exit: 0 });
  expect(stopped.said).toMatch(/^stop: success$/m);
  // Once more it is refused, by the API's own sentence.
  const again = await asCustomer(['vps', 'stop', name]);
  expect(again.exit).toBe(1);
  expect(again.said).toMatch(/code action_not_allowed, request \S+\n$/);
  const preview = await asCustomer(['services', 'cancel', name, '--type', 'immediate', '--dry-run']);
  expect(preview.out).toMatch(/^ {2}total +4\.00$/m);
  expect(preview).toMatchObject({ exit: 0, said: 'Nothing was changed: this is what it would do.\n' });
  expect(await done(['services', 'show', name])).toMatch(/^cancelled +no$/m);
  await done(['services', 'cancel', name, '--type', 'immediate', '--reason', 'The test is over']);
  const [id] = data.service_ids;
  await until(
    () => product.customer.get(`/dashboard/services/${id}`),
    ({ body }) => body.data.service.status !== 'active',
  );
  expect(await done(['services', 'show', String(id)])).toMatch(/^cancelled +yes$/m);
}, 120_000);

it('prints what the API answered, exactly; and reads lists page by page', async () => {
  for (const name of ['one', 'two', 'three'])
    await product.customer.post('/dashboard/tickets/create', {
      ...{ subject: `Page ${name}`, department: 'support', priority: 'low', message: 'Hello' },
    });
  // To the byte, also what another program would write otherwise.
  const wire =
    '{ "success": true, "data": {"tickets":[ {"tid":"1","n":1.0,"x":"\\u00e9"}],"next_cursor":null}}';
  const stub = await standIn(wire);
  const env = { INNKEEPER_URL: stub.url, INNKEEPER_API_KEY: 'k', INNKEEPER_ORGANIZATION: '1' };
  expect(await inn(['tickets', 'list', '--json'], env)).toEqual({ exit: 0, out: `${wire}\n`, said: '' });
  stub.close();
  const part = await asCustomer([
    'tickets',
    'list',
    '--search',
    'Page',
    '--limit',
    '2',
    '--columns',
    'subject',
  ]);
  expect(part.out.trim().split('\n')).toHaveLength(3);
  expect(part.said).toMatch(/^There are more: --all, or --cursor \S+\n$/);
  const all = await done(['tickets', 'list', '--search', 'Page', '--columns', 'subject', '--all']);
  for (const name of ['one', 'two', 'three']) expect(all).toContain(`Page ${name}`);
  const misspelt = await asCustomer(['tickets', 'list', '--columns', 'subject,departement,user.email']);
  expect(misspelt.said).toMatch(/There is no column departement; there are .*department.*subject/);
});

it('shows hostile text, and sends no letter of it that a terminal obeys', async () => {
  const hostile = 'Red \u001b[31m bell \u0007 csi \u009b2J turned \u202etxt.exe\r';
  const stub = await standIn({
    success: true,
    data: { services: [{ id: 1, name: hostile }], next_cursor: null },
  });
  const env = { INNKEEPER_URL: stub.url, INNKEEPER_API_KEY: 'k', INNKEEPER_ORGANIZATION: '1' };
  const obeyed = /[^\P{C}\n]/u;
  try {
    const list = await inn(['services', 'list'], env);
    expect(list.out).toContain('\\u001b[31m');
    expect(list.out + list.said).not.toMatch(obeyed);
    const record = await inn(['services', 'show', '1'], env);
    expect(record.out).toContain('\\u009b2J turned \\u202etxt.exe\\r');
    expect(record.out + record.said).not.toMatch(obeyed);
  } finally {
    stub.close();
  }
});

describe('a command that cannot be done', () => {
  it('is not understood: 2, and how it is written', async () => {
    const wrong = [
      [['services'], /Usage: inn services COMMAND/],
      [['servces', 'list'], /There is no command "servces"/],
      [['vps', 'start'], /^Usage: inn vps start ID/],
      [['services', 'list', '--nonsense'], /--nonsense.*\n\nUsage: inn services list/],
      [['services', 'list', '--status', 'asleep'], /--status must be one of .*active/],
      [
        ['vps', 'settings', 'update', '1', '--auto-backup.hour', '24'],
        /--auto-backup\.hour must be at most 23/,
      ],
      [['tickets', 'create', '--subject', 'x'], /^Missing: --department, --priority, --message/],
      [['services', 'list', '--body', 'x.json'], /--body/],
      [['tickets', 'create', '--body', '/nowhere.json'], /\/nowhere\.json cannot be read: ENOENT/],
      [['services', 'list', '--profile', 'nobody'], /There is no profile "nobody"/],
    ] as const;
    const ended = await Promise.all(wrong.map(([argv]) => asCustomer([...argv])));
    wrong.forEach(([argv, sentence], at) => {
      expect(ended[at], argv.join(' ')).toMatchObject({ exit: 2, out: '' });
      expect(ended[at]?.said).toMatch(sentence);
    });
  });

  it('is refused: 1, with the sentence, the field, and the id to quote', async () => {
    const long = 'x'.repeat(300);
    const refused = await asCustomer([
      ...['tickets', 'create', '--subject', long, '--department', 'support'],
      ...['--priority', 'low', '--message', 'Hello'],
    ]);
    expect(refused).toMatchObject({ exit: 1, out: '' });
    expect(refused.said).toMatch(/^.+\n {2}subject: .+\n {2}code invalid_request, request \S+\n$/);
    const stranger = await inn(['services', 'list'], {
      INNKEEPER_URL: product.url,
      INNKEEPER_API_KEY: 'wrong',
    });
    expect(stranger.exit).toBe(1);
    expect(stranger.said).toMatch(/"inn login" keeps an API key/);
    expect(stranger.said).toMatch(/request \S+\n$/);
    const nobody = await asCustomer(['vps', 'start', 'nobody.example.com']);
    expect(nobody).toMatchObject({
      exit: 1,
      said: 'There is nothing called "nobody.example.com" among services.\n',
    });
  });

  it('is done, and what was waited for fails: 4, and why', async () => {
    const action = {
      id: 7,
      command: 'stop',
      status: 'error',
      progress: 40,
      note: null,
      finished_at: '2026-01-01',
    };
    const stub = await standIn({
      success: true,
      data: { action: { ...action, error: { message: 'It hangs' } } },
    });
    const env = { INNKEEPER_URL: stub.url, INNKEEPER_API_KEY: 'k', INNKEEPER_ORGANIZATION: '1' };
    const { exit, said } = await inn(['vps', 'stop', '1', '--wait'], env);
    stub.close();
    expect({ exit, said }).toEqual({ exit: 4, said: 'stop: error\nstop failed: It hangs\n' });
  });

  it('reaches nobody: 3', async () => {
    const closed = await standIn({});
    closed.close();
    const env = { INNKEEPER_URL: closed.url, INNKEEPER_API_KEY: 'k', INNKEEPER_ORGANIZATION: '1' };
    const { exit, said } = await inn(['products', 'list'], env);
    expect(exit).toBe(3);
    expect(said).toMatch(/cannot be reached: .*ECONNREFUSED/);
  });
});

describe('a sign-in', () => {
  const config = path.join(home, 'innkeeper/profiles.json');

  it('keeps a key that works where nobody else reads it, and several of them', async () => {
    rmSync(path.dirname(config), { recursive: true, force: true });
    const { customer, other_customer: other } = product.demo;
    const wrong = await inn(['login', '--url', product.url], {}, 'not-a-key\n');
    expect(wrong.exit).toBe(1);
    expect(() => statSync(config)).toThrow('ENOENT');
    const first = await inn(['login', '--url', product.url], {}, `${customer.api_key}\n`);
    expect(first).toMatchObject({ exit: 0, out: '' });
    expect(first.said).not.toContain(customer.api_key);
    expect(statSync(config).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(config)).mode & 0o777).toBe(0o700);
    const mine = await inn(['account', 'show', '--json']);
    const second = await inn(['login', '--url', product.url, '--profile', 'other'], {}, `${other.api_key}\n`);
    expect(second.exit).toBe(0);
    const theirs = await inn(['account', 'show', '--json']);
    expect(JSON.parse(mine.out).data.user.id).not.toBe(JSON.parse(theirs.out).data.user.id);
    const again = await inn(['account', 'show', '--json', '--profile', 'default']);
    expect(JSON.parse(again.out).data.user.id).toBe(JSON.parse(mine.out).data.user.id);
    expect((await inn(['profiles', 'default'])).out).toMatch(/^\* default .*\n {2}other /);
    // A key is for the installation that made it: no other is sent it, nor whoever that one points to.
    const thief = await standIn({ success: true, data: {} });
    await inn(['account', 'show'], { INNKEEPER_URL: thief.url });
    expect(thief.heard()).toHaveLength(1);
    expect(thief.heard().join()).not.toContain(customer.api_key);
    const pointer = await standIn({}, { location: `${thief.url}/api/products` });
    const led = await inn(['products', 'list'], { INNKEEPER_URL: pointer.url, INNKEEPER_API_KEY: 'k' });
    expect(led.exit).toBe(3);
    expect(thief.heard()).toHaveLength(1);
    pointer.close();
    thief.close();
    expect((await inn(['logout'], { INNKEEPER_PROFILE: 'other' })).exit).toBe(0);
    expect(readFileSync(config, 'utf8')).not.toContain(other.api_key);
    expect((await inn(['logout'])).exit).toBe(0);
    const out = await inn(['services', 'list']);
    expect(out).toMatchObject({ exit: 2 });
    expect(out.said).toMatch(/Nobody is signed in/);
  });

  it('asks at a terminal without showing what is typed', async () => {
    const { api_key: key } = product.demo.customer;
    const command = `'${process.execPath}' '${tool}' login --url '${product.url}'`;
    const env = { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: home, TERM: 'dumb' };
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { env });
    let seen = '';
    terminal.stdout.on('data', (chunk) => {
      seen += chunk;
      if (seen.endsWith('API key: ')) terminal.stdin.write(`${key}\r`);
    });
    const exit = await new Promise((resolve) => terminal.on('exit', resolve));
    expect({ exit, seen }).toMatchObject({ exit: 0 });
    expect(seen).toMatch(/Signed in at/);
    expect(seen).not.toContain(key.slice(4, 20));
  });
});

it('takes a body from a file or a pipe, with flags on top', async () => {
  const file = path.join(home, 'ticket.json');
  writeFileSync(
    file,
    JSON.stringify({ subject: 'From a file', department: 'support', priority: 'low', message: 'Hi' }),
  );
  expect(await done(['tickets', 'create', '--body', file, '--priority', 'high'])).toMatch(
    /^priority +high$/m,
  );
  expect(await done(['tickets', 'create', '--body', '-'], readFileSync(file, 'utf8'))).toMatch(
    /^subject +From a file$/m,
  );
});

it('saves what is no text, with what hangs on a ticket', async () => {
  const draft = ['--subject', 'Attached', '--department', 'support', '--priority', 'low', '--message', 'See'];
  const note = path.join(home, 'note.txt');
  writeFileSync(note, 'What I saw');
  const { data } = JSON.parse(
    await done(['tickets', 'create', ...draft, '--attachments.file', note, '--json']),
  );
  const { data: whole } = JSON.parse(await done(['tickets', 'show', data.ticket.tid, '--json']));
  const [attachment] = whole.ticket.replies.flatMap((each: { attachments: unknown[] }) => each.attachments);
  expect(attachment).toMatchObject({ name: 'note.txt' });
  const saved = path.join(home, 'saved.txt');
  await done(['tickets', 'attachment', String(attachment.id), '--output', saved]);
  expect(readFileSync(saved, 'utf8')).toBe('What I saw');
});

it('logs in where the API says that the machine is, and nowhere that is no address', async () => {
  writeFileSync(path.join(home, 'ssh'), '#!/bin/sh\necho "$@"\nexit 7\n', { mode: 0o755 });
  const goTo = async (address: string) => {
    const stub = await standIn({ success: true, data: { service: { id: 1, primary_ip: address } } });
    const env = { INNKEEPER_URL: stub.url, INNKEEPER_API_KEY: 'k', INNKEEPER_ORGANIZATION: '1' };
    const ended = await inn(['ssh', '1', '--user', 'ada', '--', '-v', 'uptime'], { ...env, PATH: home });
    stub.close();
    return ended;
  };
  expect(await goTo('203.0.113.7')).toMatchObject({ exit: 7, out: '-l ada 203.0.113.7 -v uptime\n' });
  expect(await goTo('-oProxyCommand=reboot')).toMatchObject({ exit: 1, out: '' });
});

it('means by a name what is there, not what had it before', async () => {
  const services = [
    { id: 1, domain: 'web1.example.com', status: 'terminated' },
    { id: 2, domain: 'web1.example.com', status: 'active' },
    { id: 3, domain: 'web1.example.com.au', status: 'active' },
  ];
  const stub = await standIn({ success: true, data: { services, next_cursor: null } });
  const env = { INNKEEPER_URL: stub.url, INNKEEPER_API_KEY: 'k', INNKEEPER_ORGANIZATION: '1' };
  expect(await inn(['vps', 'stop', 'web1.example.com'], env)).toMatchObject({ exit: 0 });
  expect(stub.heard().at(-1)).toContain('"POST","/api/dashboard/service/2/vps/stop"');
  const asked = stub.heard().length;
  services.push({ id: 4, domain: 'web1.example.com', status: 'active' });
  const several = await inn(['vps', 'stop', 'web1.example.com'], env);
  expect(several).toMatchObject({ exit: 1 });
  expect(several.said).toMatch(/^Several of services are called "web1\.example\.com": 2, 4\./);
  expect(stub.heard()).toHaveLength(asked + 1);
  stub.close();
});

it('does what staff may, with a key of staff', async () => {
  const env = { INNKEEPER_URL: product.url, INNKEEPER_API_KEY: product.demo.staff.api_key };
  const { exit, out } = await inn(['staff', 'organizations', 'list'], env);
  expect(exit).toBe(0);
  expect(out).toMatch(/Novak Labs/);
  const { customer } = product.demo;
  const denied = await inn(['staff', 'organizations', 'list'], {
    ...env,
    INNKEEPER_API_KEY: customer.api_key,
  });
  expect(denied.exit).toBe(1);
});

it('follows events as they happen', async () => {
  const { api_key: key, organization_id: id } = product.demo.customer;
  const child = spawn(process.execPath, [tool, 'events'], {
    env: { INNKEEPER_URL: product.url, INNKEEPER_API_KEY: key, INNKEEPER_ORGANIZATION: String(id) },
  });
  let seen = '';
  child.stdout.on('data', (chunk) => {
    seen += chunk;
  });
  try {
    await expect
      .poll(async () => {
        await product.customer.post('/dashboard/tickets/create', {
          ...{ subject: 'Heard of', department: 'support', priority: 'low', message: 'Hello' },
        });
        return seen;
      })
      .toMatch(/ticket\.created/);
  } finally {
    child.kill();
  }
});

it('offers what may come next', async () => {
  expect((await inn(['complete', '--', 'vps', 'st'])).out).toBe('start\nstop\n');
  expect((await inn(['complete', '--', 'vps', 'stop', 'x', '--f'])).out).toBe('--force\n');
  const script = (await inn(['completion', 'bash'])).out;
  const asked = [
    `inn() { '${process.execPath}' '${tool}' "$@"; }`,
    script,
    'COMP_WORDS=(inn services ca); COMP_CWORD=2; _inn; declare -p COMPREPLY',
  ].join('\n');
  const offered = await new Promise((resolve) =>
    execFile('bash', ['-c', asked], (_error, out) => resolve(out)),
  );
  expect(offered).toBe('declare -a COMPREPLY=([0]="cancel" [1]="cancellation")\n');
});

/** Answers everybody the same, and keeps what it was sent. */
async function standIn(answer: unknown, redirect?: { location: string }) {
  const { createServer } = await import('node:http');
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(JSON.stringify([request.method, request.url, request.headers]));
    if (redirect !== undefined) response.statusCode = 302;
    if (redirect !== undefined) response.setHeader('location', redirect.location);
    response
      .setHeader('content-type', 'application/json')
      .end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, heard: () => heard, close: () => server.close() };
}

function exampleOf({ path: at, method }: Command): unknown {
  const operation = description.paths[at]?.[method] as {
    requestBody?: { content?: Record<string, { example?: unknown }> };
  };
  return operation.requestBody?.content?.['application/json']?.example;
}

/** Instead of what files hold, an empty one. */
function withFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFiles);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === 'content_base64' ? '/dev/null' : withFiles(each),
    ]),
  );
}

/** What is asked for, or is a file, is not written in a command. */
function withoutAsked(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutAsked(each, path));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !/(^|_)password$|^token$|^recovery_code$|^content_base64$/.test(name))
      .filter(([name]) => name !== 'code' || path === '/staff/coupons')
      .map(([name, each]) => [name, withoutAsked(each, path)]),
  );
}
