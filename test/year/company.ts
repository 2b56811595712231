import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { makeBackup, restoreBackup } from '../../src/backup/index.ts';
import type { Demo } from '../../src/demo/index.ts';
import { apiClient, type Client, methodsOf, type Response } from '../client.ts';
import { removeDataDir } from '../dataDir.ts';
import { freePort } from '../mailServers.ts';
import { sql } from '../sql.ts';
import type { Means } from '../stripe/account.ts';
import { stripeEnv } from '../stripe/product.ts';
import { type StripeStandIn, startStripe } from '../stripe/standIn.ts';
import type { Answered, Asked } from './company.testchild.ts';
import { openPost, type Post } from './post.ts';
import { DatabaseServer, newFolder } from './server.ts';

const run = promisify(execFile);
const here = path.join(import.meta.dirname, '../..');
const program = path.join(import.meta.dirname, 'company.testchild.ts');
/** Long: it only bounds a hang, and the machine may be busy with other tests. */
const patienceMs = 180_000;
const msPerMinute = 60_000;

/** What is done in every night; what happens every few seconds the product does by itself meanwhile. */
const nightly = [
  ...['billing.expire', 'services.priceMoves', 'services.calendar', 'services.applyDueChanges'],
  ...[
    'billing.compareProvider',
    'billing.earn',
    'billing.closeBooks',
    'account.forgetClosed',
    'fleet.freeRestedAddresses',
    'fleet.noteDays',
  ],
];

/**
 * The company: the product as a process on a PostgreSQL of its own, everything around it that outlives it, and the time,
 * which passes when it is told to. Whoever asks it something repeats that until it is answered, as people do.
 */
export class Company {
  readonly post: Post;
  readonly stripe: StripeStandIn;
  readonly port: number;
  database = new DatabaseServer();
  dataDir = newFolder('data');
  /** Of the version that runs. */
  root = here;
  /** All that it has logged, of every process. */
  readonly log: string[] = [];
  /** Deaths that a mail may have been under way in. */
  deaths = 0;
  restores = 0;
  #child: ChildProcess | null = null;
  #asked = 0;
  #waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  #at: number;
  #setAt = Date.now();
  #isDown = false;
  #outages: { since: number; until: number }[] = [];

  private constructor(post: Post, stripe: StripeStandIn, port: number, startsAt: number) {
    this.post = post;
    this.stripe = stripe;
    this.port = port;
    this.#at = startsAt;
  }

  static async open(startsAt: number, root = here): Promise<Company> {
    const company = new Company(await openPost(), await startStripe(), await freePort(), startsAt);
    company.root = root;
    company.stripe.account.objects.now = () => Math.floor(company.now / 1_000);
    await company.database.start();
    await company.start();
    company.stripe.events.sendTo(`${company.url}/api/payments/stripe/events`);
    return company;
  }

  get isOlder(): boolean {
    return this.root !== here;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get demo(): Demo {
    return JSON.parse(readFileSync(path.join(this.dataDir, 'demo.json'), 'utf8')) as Demo;
  }

  /** What the product's clock says. */
  get now(): number {
    return this.#at + (Date.now() - this.#setAt);
  }

  get today(): string {
    return new Date(this.now).toISOString().slice(0, 10);
  }

  get #env(): Record<string, string> {
    return {
      ...{ PORT: String(this.port), HOST: '127.0.0.1', DATA_DIR: this.dataDir },
      ...{ DATABASE_URL: this.database.applicationUrl, DATABASE_OWNER_URL: this.database.url },
      ...{ HYPERVISOR: 'simulator', NETWORK4: '10.64.0.0/18', RATE_LIMITS: 'off', DASHBOARD: 'off' },
      ...{ MAX_UNPAID_ORDERS: '100', MAX_UNPAID_ORDERS_NEW: '100' },
      ...{ CHECK_RESPONSES: 'on', LOG_LEVEL: 'warn', PUBLIC_URL: 'https://panel.example.com' },
      ...{ SMTP_URL: this.post.url, MAIL_FROM: 'Inn <inn@example.com>', STAFF_EMAIL: 'desk@example.com' },
      ...{ WEBHOOK_ALLOW: '127.0.0.0/8', ...stripeEnv(this.stripe) },
    };
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [program, this.root, String(this.now)], {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    let rest = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => {
        const lines = (rest + bytes.toString()).split('\n');
        rest = lines.pop() ?? '';
        this.log.push(...lines.filter(Boolean));
      });
    child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the product has ended'));
      this.#waiting.clear();
    });
    child.on('message', ({ id, error }: Answered) => {
      const one = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) one?.resolve();
      else one?.reject(new Error(error));
    });
    const said = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    if (child.exitCode !== null)
      throw new Error(`the product did not start: ${said}\n${this.log.slice(-30).join('\n')}`);
    this.#isDown = false;
  }

  async #ask(what: Omit<Asked, 'id'>): Promise<void> {
    this.#asked += 1;
    const id = this.#asked;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child?.send({ id, ...what } satisfies Asked);
    });
  }

  /** It is this time now: it never goes back, and a few hours at once are a night. */
  async passTo(at: number): Promise<void> {
    this.#at = Math.max(at, this.now);
    this.#setAt = Date.now();
    await this.#ask({ at: this.#at });
  }

  async pass(minutes: number): Promise<void> {
    await this.passTo(this.now + minutes * msPerMinute);
  }

  /** The night's work, whole. */
  async night(work: readonly string[] = nightly): Promise<void> {
    // What it had to say of an outage it has said by now: lines of the log come a moment late.
    for (const outage of this.#outages) outage.until = Math.min(outage.until, this.log.length);
    await this.#ask({ work: [...work] });
    await this.quiet();
  }

  /** The night's work begins, and the power goes in the middle of it. */
  async dieInTheNight(afterMs: number): Promise<void> {
    const work = this.#ask({ work: [...nightly] }).catch(() => undefined);
    await sleep(afterMs);
    await this.die();
    await work;
  }

  async die(): Promise<void> {
    this.deaths += 1;
    await this.#end('SIGKILL');
  }

  /** From the version that it runs to this one. */
  async upgrade(): Promise<void> {
    await this.stop();
    this.root = here;
    await this.start();
  }

  /** The database goes as by a power cut, and comes back so many minutes later. */
  async loseTheDatabase(minutes: number): Promise<void> {
    await sleep(100);
    const since = this.log.length;
    await this.database.kill();
    await this.pass(minutes);
    await sleep(500);
    await this.database.start();
    this.#outages.push({ since, until: Number.POSITIVE_INFINITY });
    await this.#serves();
  }

  async #serves(): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while ((await fetch(`${this.url}/readyz`).catch(() => null))?.status !== 200) {
      if (Date.now() > deadline) throw new Error('it does not serve again');
      await sleep(50);
    }
  }

  /** What it has logged while nothing was taken away from it. */
  get calmLog(): string[] {
    return this.log.filter((_, at) => !this.#outages.some(({ since, until }) => at >= since && at < until));
  }

  /** Ends as its operator ends it. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#isDown = true;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** Returns once nothing is left to do now: no job that is due, and nothing that the payment provider still has to tell. */
  async quiet(): Promise<void> {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      await this.stripe.events.deliver();
      await this.stripe.events.quiet();
      const [row] = await this.read<{ open: number; names: string }>(
        `select count(*)::int as open, string_agg(distinct name || ' ' || coalesce(error_message, ''), ', ') as names
         from jobs where state = 'running' or (state = 'ready' and run_at <= $1)`,
        new Date(this.now),
      );
      if (row?.open === 0) return;
      if (Date.now() > deadline)
        throw new Error(`it does not come to rest: ${row?.open} jobs: ${row?.names}`);
      await sleep(15);
    }
  }

  /** Reads what is in the database, and never writes. */
  read<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
    return sql<Row>({ databaseUrl: this.database.url }, text, ...values);
  }

  client(token: string, organizationId?: number): Client {
    const request: Client['request'] = async (method, route, body, headers = {}) => {
      const once: Record<string, string> = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
      const deadline = Date.now() + patienceMs;
      for (;;) {
        const client = apiClient(`${this.url}/api`, { token, organizationId });
        const answer = await client
          .request(method, route, body, { ...once, ...headers })
          .catch((error: Error) => error);
        if (Date.now() > deadline) throw new Error(`${method} ${route}: ${describe(answer)}`);
        if (!(answer instanceof Error) && !isToRepeat(answer)) return answer;
        await sleep(this.#isDown ? 200 : 50);
      }
    };
    return methodsOf(request);
  }

  /** Somebody follows a link to the payment provider's page and fills it in. */
  async fillIn(link: string, means?: Partial<Means>): Promise<string> {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const answer = await fetch(this.url + new URL(link).pathname, { redirect: 'manual' }).catch(() => null);
      await answer?.text();
      const page = answer?.headers.get('location');
      if (page) return (await this.stripe.click(page, means)).says;
      if (Date.now() > deadline) throw new Error(`${link} leads nowhere: ${answer?.status}`);
      await sleep(100);
    }
  }

  /** What an operator does at the console. */
  async command(...argv: string[]): Promise<string> {
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '/',
      ...this.#env,
      LOG_LEVEL: 'silent',
    };
    const { stdout } = await run(process.execPath, [path.join(this.root, 'src/main.ts'), ...argv], { env });
    return stdout;
  }

  /** A backup of now, made beside the running product. */
  async backup(): Promise<string> {
    const files = path.join(this.dataDir, 'files');
    const { file } = await makeBackup({
      ...{
        url: this.database.url,
        dataDir: this.dataDir,
        filesDir: files,
        to: path.join(this.dataDir, 'backups'),
      },
      ...{ withKey: true, now: new Date(this.now) },
    });
    return file;
  }

  /** The host burns down. What is left is this backup, and the host of the machines; a new database server takes it. */
  async restore(backup: string): Promise<void> {
    const [database, dataDir] = [this.database, this.dataDir];
    this.restores += 1;
    this.database = new DatabaseServer();
    this.dataDir = newFolder('data');
    await this.database.start();
    await restoreBackup({
      ...{
        file: backup,
        url: this.database.url,
        dataDir: this.dataDir,
        filesDir: path.join(this.dataDir, 'files'),
      },
      ...{ secretKey: null, replace: false, now: new Date(this.now) },
    });
    const machines = path.join(dataDir, 'simulator.json');
    if (existsSync(machines)) copyFileSync(machines, path.join(this.dataDir, 'simulator.json'));
    await database.remove();
    await removeDataDir(dataDir);
    await this.start();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.stripe.close();
    await this.post.close();
    await this.database.remove();
    await removeDataDir(this.dataDir);
  }
}

function isToRepeat({ status, body }: Response): boolean {
  return status === 503 || status === 429 || body?.code === 'idempotency_in_flight';
}

function describe(answer: Response | Error): string {
  return answer instanceof Error ? answer.message : `${answer.status} ${JSON.stringify(answer.body)}`;
}

/** What a browser keeps of an answer that signed it in; empty when it did not. */
export function tokenOf({ headers }: Response): string {
  const cookie = headers.getSetCookie().find((line) => line.startsWith('__Host-innkeeper='));
  return /=([^;]*)/.exec(cookie ?? '')?.[1] ?? '';
}
