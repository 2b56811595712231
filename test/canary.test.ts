/**
 * Text that means something to an interpreter stays text, and a secret is where it has to be and nowhere else.
 * The product runs as its user would run it, on its own database, and logs everything it can.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settings } from '../src/config.ts';
import type { Demo } from '../src/demo/index.ts';
import { prepareDataDir } from '../src/platform/host/dataDir.ts';
import { apiClient, type Client } from './client.ts';
import { type ProductChild, startProductChild } from './crash/child.ts';
import { type MailPeer, startMailPeer } from './crash/smtp.ts';
import { vpsCart } from './orders.ts';
import { until } from './product.ts';
import { contents, sql } from './sql.ts';

const hostile = [
  "'; drop table users; --",
  '$(touch /tmp/innkeeper-pwned)',
  '`touch /tmp/innkeeper-pwned`',
  '; touch /tmp/innkeeper-pwned #',
  '{{7*7}} <%= 7*7 %> #{7*7}',
  'a\r\nBcc: everybody@example.com\r\n\r\nhello',
  '<script>alert(1)</script>&amp;"\'',
  '%s%n\\x00\\n | & > <',
];
/** Lengths and characters differ between fields; what a field does not take it refuses, and this is what is left. */
const oneLine = hostile.filter((text) => !/[\r\n]/.test(text));

const secrets = {
  ordered: `Aa1-${randomBytes(9).toString('base64url')}-$(id)'";{{7*7}}`,
  reset: `Bb2-${randomBytes(9).toString('base64url')}`,
  reinstalled: `Cc3-${randomBytes(9).toString('base64url')}`,
  userData: `Dd4-${randomBytes(9).toString('base64url')}`,
  smtp: `Ee5-${randomBytes(9).toString('base64url')}`,
  dns: `Ff6-${randomBytes(9).toString('base64url')}`,
  /** Chosen by the product, shown once. */
  generated: '',
};

let dataDir: string;
/** What programs that the product ran to their end were given, one file each. */
let given: string;
let child: ProductChild;
let mail: MailPeer;
let demo: Demo;
let customer: Client;
let staff: Client;
let database: { databaseUrl: string };
/** Every body that said no. */
const refusals: string[] = [];

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'innkeeper-canary-'));
  mail = await startMailPeer();
  given = mkdtempSync(path.join(tmpdir(), 'innkeeper-canary-given-'));
  child = startProductChild({
    PATH: `${tellTales(given, ['flock', 'getent'])}:${process.env.PATH}`,
    DATA_DIR: dataDir,
    HYPERVISOR: 'simulator',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'trace',
    SMTP_URL: mail.url.replace('//', `//user:${secrets.smtp}@`),
    DNS_URL: 'http://127.0.0.1:9',
    DNS_API_KEY: secrets.dns,
  });
  const url = await child.ready;
  const place = await prepareDataDir(dataDir);
  database = {
    databaseUrl: `postgres://innkeeper@/innkeeper?host=${encodeURIComponent(path.join(place.runDir, 'postgres'))}`,
  };
  demo = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as Demo;
  const { api_key: token, organization_id: organizationId } = demo.customer;
  customer = noting(apiClient(`${url}/api`, { token, organizationId }));
  staff = noting(apiClient(`${url}/api`, { token: demo.staff.api_key }));
}, 180_000);

afterAll(async () => {
  child?.kill('SIGTERM');
  await child?.exited;
  await mail?.close();
  for (const dir of [dataDir, given]) rmSync(dir, { recursive: true, force: true });
});

/** A directory for PATH, in which these programs write down what they were given before they do their work. */
function tellTales(into: string, programs: string[]): string {
  const dir = path.join(into, 'bin');
  mkdirSync(dir);
  for (const program of programs) {
    const script = `#!/bin/sh
tr '\\0' '\\n' < /proc/$$/environ > '${into}/${program}'.$$
PATH=\${PATH#*:}
exec ${program} "$@"
`;
    writeFileSync(path.join(dir, program), script, { mode: 0o755 });
  }
  return dir;
}

function noting(client: Client): Client {
  const request: Client['request'] = async (...asked) => {
    const answer = await client.request(...asked);
    if (answer.status >= 400) refusals.push(JSON.stringify(answer.body));
    return answer;
  };
  return {
    ...client,
    request,
    get: (route, headers) => request('GET', route, undefined, headers),
    post: (route, body, headers) => request('POST', route, body ?? {}, headers),
    patch: (route, body, headers) => request('PATCH', route, body, headers),
  };
}

async function action(serviceId: number, command: string, body: object): Promise<Record<string, unknown>> {
  const answer = await customer.post(`/dashboard/service/${serviceId}/vps/${command}`, body);
  expect(answer.status).toBe(200);
  await until(
    () => customer.get(`/dashboard/service/${serviceId}/vps/history/${answer.body.data.action.id}`),
    (seen) => !['queued', 'running'].includes(seen.body.data.action.status),
    60_000,
  );
  return answer.body.data;
}

let service: number;

describe('text with a meaning to somebody', { timeout: 180_000 }, () => {
  it('is refused as a hostname, whichever it is', async () => {
    for (const domain of [...hostile, 'a b', 'a\u0000', '-a', 'ａ.example', 'a..b']) {
      const answer = await customer.post('/cart/checkout/invoice', vpsCart(demo, { domain }));
      expect(answer.status).toBe(400);
      // No text of a request holds NUL, so that one is not even looked at as a name.
      expect(answer.body.code).toBe(domain.includes('\u0000') ? 'invalid_request' : 'invalid_domain');
    }
  });

  it('comes back as it was sent, from every field that takes it', async () => {
    const organization = demo.customer.organization_id;
    for (const [index, text] of oneLine.entries()) {
      const granted = await staff.post(`/staff/organizations/${organization}/credit`, {
        amount: '20.00',
        currency: 'EUR',
        description: text,
      });
      expect(granted.status).toBe(200);
      const list = await customer.get('/dashboard/invoices');
      expect(list.body.data.last_credit_transaction.description).toBe(text);

      const cart = vpsCart(demo, { option5: 0 });
      const order = await customer.post('/cart/checkout/invoice', cart);
      const { invoice_id: invoiceId, total } = order.body.data;
      const paid = await staff.post(`/staff/invoices/${invoiceId}/payments`, {
        amount: total,
        reference: text,
      });
      expect(paid.body.data.invoice.payments[0].reference).toBe(text);
      const reason = `${text} ${index}`;
      await staff.post(`/staff/invoices/${invoiceId}/refund`, { reason, method: 'credit' });
      expect(await sql(database, 'select reason from refunds where invoice_id = $1', invoiceId)).toEqual([
        { reason },
      ]);
    }
  });

  it('is a name of an SSH key, a search and an API key like any other', async () => {
    for (const text of hostile) {
      const found = await customer.get(`/dashboard/services?search=${encodeURIComponent(text)}`);
      expect([200, 400]).toContain(found.status);
      expect(found.body.data?.services ?? []).toEqual([]);
      const body = { name: text.slice(0, 60), public_key: `ssh-ed25519 ${text}` };
      expect((await customer.post('/dashboard/account/ssh-keys', body)).status).toBe(400);
    }
    expect((await sql(database, 'select 1 from users')).length).toBeGreaterThan(2);
  });

  it('of a mail never becomes a header of it', async () => {
    await until(
      async () => mail.messages.length,
      (count) => count >= oneLine.length,
    );
    for (const message of mail.messages) {
      const [head = ''] = message.split('\r\n\r\n');
      expect(head).not.toMatch(/^bcc:/im);
      expect(head.match(/^to:/gim)).toHaveLength(1);
    }
  });

  it('has no shell to reach: nothing was run', () => {
    expect(() => statSync('/tmp/innkeeper-pwned')).toThrow();
  });
});

describe('a secret', { timeout: 240_000 }, () => {
  beforeAll(async () => {
    const cart = vpsCart(demo, { domain: 'canary.example.com', password: secrets.ordered });
    const key = { 'idempotency-key': 'canary' };
    const order = await customer.post('/cart/checkout/invoice', cart, key);
    expect(order.status).toBe(200);
    service = order.body.data.service_ids[0];
    const pay = `/dashboard/invoices/${order.body.data.invoice_id}/pay`;
    expect((await customer.post(pay, { method: 'credit' })).status).toBe(200);
    await until(
      () => customer.get(`/dashboard/services/${service}`),
      (answer) => answer.body.data.service.status === 'active',
      60_000,
    );
    await action(service, 'reset-password', { password: secrets.reset });
    secrets.generated = String((await action(service, 'reset-password', {})).password);
    expect(secrets.generated.length).toBeGreaterThan(10);
    await action(service, 'reinstall', {
      os: 'tiny',
      password: secrets.reinstalled,
      user_data: `#cloud-config\npassword: ${secrets.userData}`,
    });
    // Requests that are refused, each with a secret in it.
    await customer.post('/cart/checkout/invoice', { ...cart, couponcode: 'NO' });
    await customer.post('/cart/checkout/invoice', { products: [{ ...cart.products[0], cycle: 'x' }] }, key);
    await customer.post('/cart/checkout/invoice', `{"products": [{"options": {"password": "${secrets.reset}`);
    await customer.post(`/dashboard/service/${service}/vps/reset-password`, {
      password: secrets.reset,
      x: 1,
    });
    await customer.post(`/dashboard/service/${service}/vps/reinstall`, { os: secrets.reset, password: 1 });
    await customer.get('/dashboard/services', { token: `${demo.customer.api_key}x` });
  }, 180_000);

  const all = () => ({
    ...secrets,
    customerKey: demo.customer.api_key,
    otherKey: demo.other_customer.api_key,
    staffKey: demo.staff.api_key,
    customerPassword: demo.customer.password,
    staffPassword: demo.staff.password,
    secretKey: readFileSync(path.join(dataDir, 'secret.key')).toString('base64'),
  });

  /** Names of secrets that a text holds, as they are or in a spelling that hides nothing. */
  function secretsIn(text: string): string[] {
    return Object.entries(all()).flatMap(([name, secret]) => {
      const bytes = Buffer.from(secret);
      const spellings = [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(secret),
        bytes.toString('hex'),
        bytes.toString('base64').replace(/=+$/, ''),
      ];
      return spellings.some((spelling) => text.includes(spelling)) ? [name] : [];
    });
  }

  it('is found when it is there', () => {
    for (const [name, secret] of Object.entries(all())) expect(secretsIn(`x${secret}y`)).toContain(name);
  });

  it('is in no line of the log', () => {
    const printed = child.printed();
    expect(printed).toContain('"level":"'); // it did log
    // The welcome shows the demonstration's keys, once, to whoever started the product.
    const logged = printed.slice(printed.indexOf('Innkeeper is ready'));
    const lines = printed.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.length).toBeGreaterThan(50);
    expect(secretsIn(lines.join('\n'))).toEqual([]);
    expect(secretsIn(logged).filter((name) => !['customerKey', 'staffKey'].includes(name))).toEqual([]);
  });

  it('is in no row of the database: journal, jobs, kept answers, mails or any other', async () => {
    const tables = await contents(database);
    const found = Object.entries(tables).flatMap(([table, rows]) =>
      secretsIn(rows.join('\n')).map((name) => `${name} in ${table}`),
    );
    expect(found).toEqual([]);
    expect(tables.journal?.length).toBeGreaterThan(20);
    expect(tables.service_secrets?.filter((row) => row.includes(String(service)))).toEqual([]);
    expect(tables.vps_secrets).toEqual([]);
  });

  it('is in no mail', () => {
    expect(secretsIn(mail.messages.join('\n'))).toEqual([]);
  });

  it('is in no error that was answered', () => {
    expect(refusals.length).toBeGreaterThan(10);
    expect(secretsIn(refusals.join('\n'))).toEqual([]);
  });

  it('is in no file but the two that are for it, the database files and their log included', () => {
    const leaks: string[] = [];
    let read = 0;
    for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
      if (['demo.json', 'secret.key'].includes(name)) continue;
      const text = textOf(path.join(dataDir, name));
      if (text === null) continue;
      read += 1;
      for (const secret of secretsIn(text)) leaks.push(`${secret} in ${name}`);
    }
    expect(read).toBeGreaterThan(500);
    expect(leaks).toEqual([]);
  });

  it('is in no process list: neither arguments nor environment of what the product started', () => {
    const leaks = childrenOf(child.pid).flatMap((pid) => {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return secretsIn(command + environment).map((name) => `${name} in ${pid} ${command.slice(0, 80)}`);
    });
    expect(childrenOf(child.pid).length).toBeGreaterThan(1); // PostgreSQL at least
    expect(leaks).toEqual([]);
    expect(secretsIn(readFileSync(`/proc/${child.pid}/cmdline`, 'latin1'))).toEqual([]);
  });

  it('is in no environment of a program that the product ran to its end', () => {
    const files = readdirSync(given).filter((name) => name !== 'bin');
    expect(files.map((name) => path.parse(name).name)).toContain('flock');
    for (const name of files) {
      const environment = readFileSync(path.join(given, name), 'latin1');
      const names = environment.split('\n').map((line) => line.split('=')[0]);
      expect(names).toContain('PATH'); // it was written down
      const ours = settings.filter((setting) => names.includes(setting.name));
      expect([name, ...secretsIn(environment), ...ours]).toEqual([name]);
    }
  });

  it('of a machine does not outlive its delivery: not sealed, not hashed, not on the host', async () => {
    const store = JSON.parse(readFileSync(path.join(dataDir, 'simulator.json'), 'utf8'));
    for (const [, machine] of store.machines) expect(machine.identity?.passwordHash ?? null).toBeNull();
    const client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
    const { rows } = await client.query(
      'select count(*)::int as n from service_secrets x join services s on s.id = x.service_id where s.status <> $1',
      ['pending'],
    );
    await client.end();
    expect(rows).toEqual([{ n: 0 }]);
  });
});

/** Null of what is no file, or is gone: the database makes some of its own anew while it runs. */
function textOf(file: string): string | null {
  try {
    return statSync(file).isFile() ? readFileSync(file, 'latin1') : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function childrenOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const found: number[] = [];
  const add = (parent: number): void => {
    for (const [each, its] of parents) {
      if (its !== parent) continue;
      found.push(each);
      add(each);
    }
  };
  add(pid);
  return found;
}

describe('programs', () => {
  const sources = readdirSync(path.join(import.meta.dirname, '../src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\w*\.ts$|testbed\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(path.join(import.meta.dirname, '../src', file), 'utf8') }));

  /**
   * A guest has its own shell. Its scripts are constants; what customers choose comes to them as arguments. Three
   * have values in their text: the boot hook of `addresses.ts` a checked MAC and addresses, which nobody chooses, that
   * of `nameservers.ts` addresses that were parsed as such, and that of `wholeName.ts` a checked hostname, quoted.
   * So has the system that installs servers, and what it installs.
   */
  const inGuests = new Set([
    'drivers/hypervisor/images/tiny-guest.ts',
    'drivers/hypervisor/images/tiny.ts',
    'drivers/hypervisor/qemu/addresses.ts',
    'drivers/hypervisor/qemu/guest.ts',
    'drivers/hypervisor/qemu/nameservers.ts',
    'drivers/hypervisor/qemu/wholeName.ts',
    'drivers/installer/image/build.ts',
    'drivers/installer/image/contents.ts',
    'drivers/installer/trees/debianSystem.ts',
    'drivers/installer/trees/tiny.ts',
    'drivers/installer/trees/tinySystem.ts',
    // Scripts that programs of the demonstration's own rack call; no customer's word reaches them.
    'demo/rack/real/agent.ts',
    'demo/rack/real/programs.ts',
    'demo/rack/real/served.ts',
  ]);

  it('are never run through a shell', () => {
    const shells =
      /\bshell:|\b(?:exec|execSync|execFile|execFileSync|spawnSync|fork)\(|'(?:ba|da|z)?sh'|\/bin\/sh|-c['"], [`'"]/;
    const suspects = sources
      .filter(({ file }) => !inGuests.has(file))
      .flatMap(({ file, text }) =>
        text
          .split('\n')
          .filter((line) => shells.test(line) && !/\.exec\(|^\s*(?:\/\/|\*)/.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    // How names of files end, which nobody runs.
    expect(suspects).toEqual(["tickets/attachments/type.ts: 'sh',"]);
  });

  it('are started in a few places, each with an environment that holds no secret', () => {
    const starters = sources.filter(({ text }) => text.includes("from 'node:child_process'"));
    expect(starters.map(({ file }) => file).sort()).toEqual([
      'drivers/debian/fileLock.ts',
      'drivers/hypervisor/qemu/process.ts',
      'platform/database/embedded/server.ts',
      'platform/host/lock.ts',
      'platform/host/program.ts',
    ]);
    for (const { file, text } of starters) {
      expect([file, /env: (?:\{ \.\.\.)?childEnvironment\(\)|env: \{ PATH:/.test(text)]).toEqual([
        file,
        true,
      ]);
    }
  });
});
