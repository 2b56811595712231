/**
 * The guide for founders, docs/founding.md: each of its commands, in its order, in one bash, against the real product. What
 * stands in for something, and why:
 * - `apt-get`: nothing is installed; the package and its units are proved by packaging/package.long.test.ts.
 * - `systemctl`: there is no systemd here; it starts the product by the line of the package's unit, Debian's Caddy and
 *   Debian's Prometheus with the files that the guide has written, and notes what it is asked of the timer.
 * - `/usr/bin/innkeeper` and `/usr/lib/innkeeper` are the package's script and this checkout. Folders of the system and ports
 *   are others, so that nothing of this host is touched.
 * - the domain: curl is told where panel.example.com is, and Caddy makes its certificates itself. Nobody here has the domain.
 * - `HYPERVISOR=simulator` in place of `qemu`: the one line that is another. Real machines are the machine tests'.
 * - Stripe is test/stripe/, whose keys are put in place of the examples, and the mail server test/smtp.ts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventTypes } from '../src/drivers/payments/stripe/events.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { apiClient, type Client, type Response } from './client.ts';
import { removeDataDir } from './dataDir.ts';
import { freePort } from './mailServers.ts';
import { until } from './product.ts';
import { headersOf, type MailServer, mailServer } from './smtp.ts';
import { type StripeStandIn, startStripe } from './stripe/standIn.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const guide = read('docs/founding.md');
const blocks = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] ?? '');

/** Programs that the guide calls; a test run installs them where it may. */
const missing = ['bash', 'caddy', 'curl', 'jq', 'pdftotext', 'prometheus', 'promtool', 'ssh-keygen'].filter(
  (name) => !(process.env.PATH ?? '').split(':').some((folder) => existsSync(path.join(folder, name))),
);
if (missing.length > 0)
  console.log(`The commands of docs/founding.md are NOT tested here, for want of ${missing.join(', ')}.`);

let dir: string;
let shell: ChildProcess | undefined;
let printed = '';
let mails: MailServer;
let stripe: StripeStandIn;
let ports: Record<'product' | 'https' | 'http' | 'prometheus', number>;
let staff: Client;
let ended: Promise<number | null>;

/** The guide's folders, ports and peers in place of a founder's. */
function here(text: string): string {
  return text
    .replaceAll(/\/(etc|var|root|usr\/share|usr\/lib)\/?(?=[\w.])/g, `${dir}/$1/`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.product}`)
    .replaceAll('PORT=8080', `PORT=${ports.product}`)
    .replace('user:password@mail.example.com:587', new URL(mails.url).host)
    .replace('HYPERVISOR=qemu', 'HYPERVISOR=simulator')
    .replace('sk_live_example', stripe.secretKey)
    .replace('whsec_example', stripe.webhookSecret);
}

function program(name: string, text: string): void {
  const file = path.join(dir, 'bin', name);
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

const unit = /^ExecStart=(.*)$/m.exec(read('packaging/innkeeper.service'))?.[1] ?? '';

function standIns(): void {
  for (const folder of ['bin', 'etc/innkeeper', 'etc/caddy', 'etc/prometheus', 'var/lib', 'root', 'run'])
    mkdirSync(path.join(dir, folder), { recursive: true });
  // PostgreSQL runs as an account of its own and has to come through.
  for (const folder of ['', 'var', 'var/lib']) chmodSync(path.join(dir, folder), 0o755);
  mkdirSync(path.join(dir, 'usr/lib/innkeeper/bin'), { recursive: true });
  mkdirSync(path.join(dir, 'usr/share/innkeeper/monitoring'), { recursive: true });
  symlinkSync(process.execPath, path.join(dir, 'usr/lib/innkeeper/bin/node'));
  symlinkSync(path.join(root, 'src'), path.join(dir, 'usr/lib/innkeeper/src'));
  const rules = 'monitoring/alerts.yml';
  copyFileSync(path.join(root, 'docs/operations', rules), path.join(dir, 'usr/share/innkeeper', rules));
  program('apt-get', '#!/bin/sh\nexit 0\n');
  // Whoever runs the tests may be no root, and owns the folders that stand in for root's.
  program('innkeeper', here(read('packaging/innkeeper')).replace('"$(id -u)"', '0'));
  writeFileSync(
    path.join(dir, 'etc/caddy/main'),
    `{\n\tlocal_certs\n\tskip_install_trust\n\tadmin off\n\thttp_port ${ports.http}\n\thttps_port ${ports.https}\n\tstorage file_system ${dir}/run/caddy\n}\nimport ${dir}/etc/caddy/Caddyfile\n`,
  );
  writeFileSync(
    path.join(dir, '.curlrc'),
    `connect-to = "panel.example.com:443:127.0.0.1:${ports.https}"\ncacert = "${dir}/run/caddy/pki/authorities/local/root.crt"\n`,
  );
  program(
    'systemctl',
    `#!/bin/bash
set -eu
ended() { ! kill -0 $1 2>/dev/null || grep -q '^State:.Z' /proc/$1/status; }
stop() { [ -e ${dir}/run/$1.pid ] || return 0; pid=$(cat ${dir}/run/$1.pid); kill $pid; until ended $pid; do sleep 0.1; done; }
start() { name=$1; shift; setsid "$@" >>${dir}/run/$name.log 2>&1 </dev/null & echo $! >${dir}/run/$name.pid; }
export PATH=${process.env.PATH}
case "$*" in
  'enable --now innkeeper' | 'restart innkeeper')
    stop innkeeper
    STRIPE_API_URL=${stripe.url} start innkeeper ${here(unit)} ;;
  'reload caddy') start caddy caddy run --adapter caddyfile --config ${dir}/etc/caddy/main ;;
  'restart prometheus')
    start prometheus prometheus --config.file=${dir}/etc/prometheus/prometheus.yml --storage.tsdb.path=${dir}/run/tsdb \\
      --web.listen-address=127.0.0.1:${ports.prometheus} ;;
  'enable --now innkeeper-backup.timer') : ;;
  *) echo "systemctl: nobody here does $*" >&2; exit 1 ;;
esac
`,
  );
}

/** Everything in one shell that ends at the first command that fails, and says which block it has begun. */
function begin(): void {
  const script = blocks
    .map((block, at) => `printf '\\n::: block %d\\n' ${at + 1}\n${here(block)}`)
    .join('\n');
  shell = spawn('bash', ['-euo', 'pipefail', '-c', `${script}\nprintf '\\n::: end\\n'`], {
    cwd: dir,
    env: { ...process.env, HOME: dir, PATH: `${dir}/bin:${process.env.PATH}` },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  for (const stream of [shell.stdout, shell.stderr])
    stream?.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
    });
  ended = new Promise((resolve) => shell?.once('exit', resolve));
}

/** What the guide's reader does beside the terminal, as soon as there is something to do; fails with what was printed when the shell ends before. */
async function meanwhile<T>(ask: () => T | undefined): Promise<T> {
  const seen = await until(
    async () => ({ found: ask(), isOver: shell?.exitCode !== null }),
    ({ found, isOver }) => found !== undefined || isOver,
    270_000,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${printed}${logs()}`);
  });
  if (seen.found === undefined)
    throw new Error(`the shell ended with ${shell?.exitCode}:\n${printed}${logs()}`);
  return seen.found;
}

function logs(): string {
  return readdirSync(path.join(dir, 'run'))
    .filter((name) => name.endsWith('.log'))
    .map((name) => `\n${name}:\n${readFileSync(path.join(dir, 'run', name), 'utf8').slice(-3_000)}`)
    .join('');
}

const mailTo = (to: string, subject: RegExp) =>
  mails.mails.find((mail) => mail.to.includes(to) && subject.test(headersOf(mail.text).subject ?? ''));

const data = async (answer: Promise<Response>) => {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};

describe.skipIf(missing.length > 0)('a founder who does what the guide says', () => {
  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-founding-'));
    const [product, https, http, prometheus] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    ports = { product, https, http, prometheus };
    [mails, stripe] = [await mailServer(), await startStripe()];
    const url = `http://127.0.0.1:${product}`;
    stripe.events.sendTo(`${url}/api/payments/stripe/events`);
    standIns();
    begin();

    const link = await meanwhile(
      () =>
        /https:\/\/panel\.example\.com\S*token=\S+/.exec(mailTo('grace@example.com', /./)?.plain ?? '')?.[0],
    );
    shell?.stdin?.write(`${link}\n`);
    const page = await meanwhile(() => /^https:\/\/panel\.example\.com(\/\S*pay\S*)$/m.exec(printed)?.[1]);
    const answer = await fetch(url + page, { redirect: 'manual' });
    await stripe.click(answer.headers.get('location') ?? '');
    shell?.stdin?.write('\n');
    await meanwhile(() => (printed.includes('::: end') ? true : undefined));
    const [key] = /ink_\S+/.exec(printed) ?? [];
    staff = apiClient(`${url}/api`, { token: key ?? '' });
  }, 300_000);

  afterAll(async () => {
    shell?.kill('SIGKILL');
    for (const name of ['prometheus', 'caddy', 'innkeeper']) {
      const file = path.join(dir, 'run', `${name}.pid`);
      if (!existsSync(file)) continue;
      const pid = Number(readFileSync(file, 'utf8'));
      // One that has ended may stay as a zombie where nobody looks after orphans.
      const isThere = () =>
        existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      if (!isThere()) continue;
      process.kill(pid, 'SIGTERM');
      await until(
        async () => isThere(),
        (seen) => !seen,
      );
    }
    await stripe.close();
    await mails.close();
    await removeDataDir(path.join(dir, 'var/lib/innkeeper'));
    rmSync(dir, { recursive: true, force: true });
  }, 60_000);

  it('has run every command, and none failed', async () => {
    expect(blocks.length).toBeGreaterThan(15);
    expect(printed.match(/^::: block \d+$/gm)).toHaveLength(blocks.length);
    expect(await ended).toBe(0);
  });

  it('is reached by TLS, and shows nobody outside how the product is', () => {
    const asked = (address: string) =>
      runProgram(
        ['curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}', `https://panel.example.com${address}`],
        {
          env: { HOME: dir },
        },
      );
    return Promise.all([
      expect(asked('/livez')).resolves.toMatchObject({ stdout: '200' }),
      expect(asked('/')).resolves.toMatchObject({ stdout: '200' }),
      expect(asked('/metrics')).resolves.toMatchObject({ stdout: '404' }),
    ]);
  });

  it('has tried the mail server, and mails are from the company', () => {
    expect(headersOf(mailTo('sam@elsewhere.example', /test mail/)?.text ?? '').from).toContain(
      'billing@example.com',
    );
    const [confirm] = mails.mails.filter(({ to }) => to.includes('grace@example.com'));
    expect(headersOf(confirm?.text ?? '').from).toBe('Example Hosting <billing@example.com>');
    expect(confirm?.plain).toContain('https://panel.example.com/');
  });

  it('has people, a brand and a product with the options of a VPS', async () => {
    const people = await data(staff.get('/staff/users?limit=100'));
    expect(people.users.map(({ email }: { email: string }) => email)).toEqual(
      expect.arrayContaining(['sam@example.com', 'kim@example.com', 'grace@example.com']),
    );
    const { brand } = await data(staff.get('/brand'));
    expect(brand).toMatchObject({ name: 'Example Hosting', accent: '#1b4965' });
    expect(brand.links.terms).toBe('https://example.com/terms');
    const { products } = await data(staff.get('/products'));
    expect(products).toMatchObject([{ name: 'VPS', group: { name: 'Virtual servers' } }]);
    expect(products[0].options).toHaveLength(8);
  });

  it('has sold: an invoice with the tax and the data of the company, paid by card, and a machine', async () => {
    const { invoices } = await data(staff.get('/staff/invoices'));
    expect(invoices).toMatchObject([
      { status: 'paid', subtotal: '4.00', tax: '0.84', total: '4.84', tax_rate: '21.00', tax_country: 'NL' },
    ]);
    const pdf = path.join(dir, 'root/invoice.pdf');
    const { stdout: text } = await runProgram(['pdftotext', '-layout', pdf, '-']);
    for (const each of ['Example Hosting B.V.', '1 Harbour Street', 'NL123456789B01', '4.84', 'Otters'])
      expect(text).toContain(each);
    const { payments } = await data(staff.get('/staff/payments'));
    expect(payments).toMatchObject([{ amount: '4.84' }]);
    const { services } = await data(staff.get('/staff/services'));
    expect(services).toMatchObject([
      { status: 'active', provisioning_state: 'done', primary_ip: '203.0.113.2' },
    ]);
    expect(await data(staff.get('/staff/attention'))).toMatchObject({ concerns: [], lacks: [] });
  });

  it('has a second pool, and an address that nobody gets', async () => {
    const { address_pools: pools } = await data(staff.get('/staff/address-pools'));
    expect(pools.map(({ network }: { network: string }) => network)).toEqual(
      expect.arrayContaining(['203.0.113.0/24', '198.51.100.0/24']),
    );
    const pool = pools.find(({ name }: { name: string }) => name === 'AMS 2');
    expect(pool.addresses.reserved).toBe(1);
  });

  it('has a backup that was proved good', () => {
    expect(printed).toContain('every row came back');
    expect(printed).toMatch(/innkeeper-\S+\.tar is whole and can be restored/);
  });

  it('is watched: Prometheus reads its metrics, and has the rules', async () => {
    const prometheus = apiClient(`http://127.0.0.1:${ports.prometheus}/api/v1`, {});
    const up = await until(
      () => prometheus.get('/query?query=up').catch(() => null),
      (seen) => seen?.body.data?.result?.[0]?.value?.[1] === '1',
      60_000,
    );
    expect(up?.body.data.result[0].metric.job).toBe('innkeeper');
    const rules = (await prometheus.get('/rules')).body.data;
    expect(rules.groups[0].name).toBe('innkeeper');
  });
});

describe('what the guide and its neighbours say', () => {
  it('is where the dashboard has it, under that name', () => {
    const texts = JSON.parse(read('web/src/text/staff/staff.en.json'));
    const { brand, area: areas } = JSON.parse(read('web/src/text/en.json'));
    const label = (key: string) =>
      key === 'brand.title' ? brand.title : texts.staff[key.replace('staff.', '')];
    const groups = read('web/src/StaffHouse.tsx')
      .split(/^ {4}group: /m)
      .slice(1);
    const places = groups.flatMap((group) => {
      const [name = '', ...labels] = [...group.matchAll(/'(staff\.group\w+)'|label: '([\w.]+)'/g)].map(
        ([, of, at]) => of ?? at ?? '',
      );
      return labels.map((each) => `${label(name)} → ${label(each)}`);
    });
    const named = [...guide.replaceAll(/\s+/g, ' ').matchAll(/\*([^*→]+ → [^*→]+?)(?: → ([^*]+))?\*/g)];
    expect(named.length).toBeGreaterThan(8);
    for (const [, place, area] of named) {
      expect(places).toContain(place);
      if (area !== undefined) expect(Object.values(areas)).toContain(area);
    }
  });

  it('are all events that Stripe is to be asked for', () => {
    const [, list = ''] = /^## Events$.*?^```\n(.*?)^```$/ms.exec(read('docs/operations/payments.md')) ?? [];
    expect(list.trim().split('\n')).toEqual([...eventTypes]);
  });
});
