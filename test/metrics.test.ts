/** What Prometheus reads of the product, and what operators are given to read it with. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../src/platform/host/program.ts';
import { orderVps, runningVps } from './orders.ts';
import { newCustomer } from './people.ts';
import { startTestProduct, type TestProduct, until } from './product.ts';
import { settled, sql } from './sql.ts';

const promtool = await promisify(execFile)('promtool', ['--version']).then(
  () => true,
  () => false,
);
if (!promtool)
  console.log('What promtool says of metrics is NOT tested here: it comes with Debian’s package prometheus.');

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const scrape = async () => (await fetch(`${product.url}/metrics`)).text();

/** The value of a line, once it is as `check` wants it. */
async function value(line: string, check: (value: number) => boolean): Promise<number> {
  return until(
    async () => {
      const found = (await scrape()).split('\n').find((each) => each.startsWith(`${line} `));
      return found === undefined ? Number.NaN : Number(found.slice(line.length + 1));
    },
    check,
    30_000,
  );
}

describe('names and units', () => {
  it('are as Prometheus wants them', async () => {
    const lines = (await scrape()).split('\n');
    const typed = lines.flatMap((line) => {
      const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      return name === undefined || type === undefined ? [] : [{ name, type }];
    });
    const wrong = typed.flatMap(({ name, type }) => {
      const help = lines.find((line) => line.startsWith(`# HELP ${name} `));
      return [
        help === undefined && `${name} has no help`,
        !/^[a-z]+(_[a-z0-9]+)+$/.test(name) && `${name} is no name in small letters with single underscores`,
        type === 'counter' && !name.endsWith('_total') && `the counter ${name} does not end in _total`,
        type !== 'counter' &&
          /_(total|count|sum|bucket|info_total)$/.test(name) &&
          `${name} ends like a counter`,
        /_(ms|milliseconds|minutes|hours|days|kib|mib|gib|kb|mb|gb|percent)(_|$)/.test(name) &&
          `${name} is in no base unit`,
        name.includes(type) && `${name} names its type`,
      ].filter((each) => each !== false);
    });
    expect(wrong).toEqual([]);
    expect(new Set(typed.map(({ name }) => name)).size).toBe(typed.length);
  });

  it.runIf(promtool)('pass promtool', async () => {
    const said = await runProgram(['promtool', 'check', 'metrics'], { input: await scrape() });
    expect(said.stdout).toBe('');
  });
});

describe('what is counted of the house', () => {
  it('is the build', async () => {
    expect(await scrape()).toMatch(
      /^innkeeper_build_info\{version="\d+\.\d+\.\d+",commit="([0-9a-f]{40}|unknown)",role="all",node_version="[\d.]+"\} 1$/m,
    );
  });

  it('is machines by state, and nodes with what they have left', async () => {
    const person = await newCustomer(product, { creditMinor: 10_000 });
    const free = await value(
      'innkeeper_node_memory_free_bytes{node="node-1",location="AMS"}',
      (left) => left > 0,
    );
    await runningVps(product, person);
    await value('innkeeper_machines{state="running"}', (machines) => machines === 1);
    await value(
      'innkeeper_node_memory_free_bytes{node="node-1",location="AMS"}',
      (left) => left === free - 2 ** 30,
    );
    await value('innkeeper_node_reachable{node="node-1",location="AMS"}', (reachable) => reachable === 1);
    await value('innkeeper_workers', (workers) => workers === 1);
  });

  it('is jobs by queue and state, the longest wait, and what cannot end', async () => {
    await settled(product);
    await sql(
      product,
      `insert into jobs (name, payload, state, run_at, created_at, finished_at, stuck_reason, attempts, node_id) values
        ('mail.send', '{}', 'failed', now(), now(), now(), null, 0, null),
        ('vps.start', '{}', 'stuck', now(), now(), now(), 'end: no', 12, null),
        ('billing.unheardOf', '{}', 'ready', now() - interval '1 hour', now(), null, null, 0, null),
        ('vps.start', '{}', 'ready', now() - interval '10 minutes', now(), null, null, 0, 4242),
        ('vps.stop', '{}', 'ready', now() + interval '1 day', now(), null, 'end: the disk is full', 7, null)`,
    );
    await value('innkeeper_jobs{queue="mails",state="failed"}', (jobs) => jobs === 1);
    await value('innkeeper_jobs{queue="machine",state="stuck"}', (jobs) => jobs === 1);
    await value('innkeeper_jobs{queue="machine",state="scheduled"}', (jobs) => jobs === 1);
    await value('innkeeper_jobs{queue="unknown",state="waiting"}', (jobs) => jobs === 1);
    await value('innkeeper_jobs_oldest_waiting_seconds{queue="unknown"}', (s) => s > 3_590 && s < 3_700);
    await value('innkeeper_jobs_oldest_waiting_seconds{queue="quick"}', (s) => s === 0);
    await value('innkeeper_jobs_unattended', (jobs) => jobs === 1);
    await value('innkeeper_jobs_retrying', (jobs) => jobs === 1);
    await value('innkeeper_concerns{kind="job.retrying"}', (concerns) => concerns === 1);
    await value('innkeeper_concerns{kind="job.failed"}', (concerns) => concerns === 2);
    await sql(product, `delete from jobs where state <> 'done'`);
  });

  it('is mails that wait or failed, how far reactions are behind, and the journal', async () => {
    await orderVps(product, await newCustomer(product));
    await settled(product);
    await sql(
      product,
      `update mails set state = 'queued', created_at = now() - interval '5 minutes'
         where id = (select max(id) from mails)`,
    );
    await sql(product, `update mails set state = 'failed' where id = (select min(id) from mails)`);
    await value('innkeeper_mails{state="waiting"}', (mails) => mails === 1);
    await value('innkeeper_mails{state="failed"}', (mails) => mails === 1);
    await value('innkeeper_mails_oldest_waiting_seconds', (s) => s > 290 && s < 400);
    await value('innkeeper_journal_entries_total', (entries) => entries > 0);
    await value('innkeeper_reactions_oldest_waiting_seconds', (s) => s === 0);
    await sql(
      product,
      `create function hold() returns trigger language plpgsql as $$ begin return null; end $$;
       create trigger hold before update on jobs for each row execute function hold();
       insert into jobs (name, payload, run_at, created_at)
         values ('services.deliverPaid', '{"journalId": 1}', now() - interval '2 minutes', now())`,
    );
    await value('innkeeper_reactions_oldest_waiting_seconds', (s) => s > 110 && s < 200);
    await sql(product, `drop trigger hold on jobs; delete from jobs where state = 'ready'`);
  });
});

describe('a scrape', () => {
  it('is answered in time while the database is not, and says so', { timeout: 60_000 }, async () => {
    await value('innkeeper_house_measured', (measured) => measured === 1);
    const blocker = new pg.Client({ connectionString: product.databaseUrl });
    await blocker.connect();
    await blocker.query('begin; lock table mails in access exclusive mode');
    try {
      const tookMs: number[] = [];
      await until(
        async () => {
          const since = performance.now();
          const text = await scrape();
          tookMs.push(performance.now() - since);
          return text;
        },
        (text) =>
          text.includes('\ninnkeeper_house_measured 0\n') && text.includes('\nprocess_cpu_seconds_total '),
        30_000,
      );
      expect(Math.max(...tookMs)).toBeLessThan(4_000);
    } finally {
      await blocker.end();
    }
    await value('innkeeper_house_measured', (measured) => measured === 1);
  });
});

describe('what operators are given', () => {
  const folder = path.join(import.meta.dirname, '../docs/operations');
  const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
  const rules = [...read('monitoring/alerts.yml').matchAll(/- alert: (\w+)\n +expr: '(.*)'/g)].map(
    ([, name = '', expr = '']) => ({ name, expr: expr.replaceAll("''", "'") }),
  );
  const dashboard = JSON.parse(read('monitoring/dashboard.json')) as {
    uid: string;
    panels: { id: number; type: string; title: string; targets?: { expr: string }[] }[];
  };
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  it('names metrics that there are', async () => {
    const text = await scrape();
    const there = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name],
    );
    const named = [...rules.map(({ expr }) => expr), ...shown].flatMap(
      (expr) => expr.match(/\b(?:innkeeper|nodejs|process)_\w+/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !there.includes(name))).toEqual([]);
  });

  it('is a dashboard that can be imported, with a title and a place for each panel', () => {
    expect(dashboard.uid).toBe('innkeeper');
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(panels.filter(({ title }) => title === '')).toEqual([]);
    expect(panels.filter(({ type, targets = [] }) => type !== 'row' && targets.length === 0)).toEqual([]);
  });

  it('explains each alert, and what to do', () => {
    const runbook = read('alerts.md');
    const explained = [...runbook.matchAll(/^## (\w+)\n\n\*(?:critical|warning)\.\*[^#]+\*\*Do:\*\* /gm)];
    expect(explained.map(([, name]) => name)).toEqual(rules.map(({ name }) => name));
    const tested = [...read('monitoring/alerts.test.yml').matchAll(/- name: (\w+)/g)];
    expect(tested.map(([, name]) => name)).toEqual(rules.map(({ name }) => name));
  });

  it.runIf(promtool)(
    'passes promtool: the rules, what they say of made-up series, and every panel',
    async () => {
      const monitoring = path.join(folder, 'monitoring');
      await runProgram(['promtool', 'check', 'rules', path.join(monitoring, 'alerts.yml')]);
      await runProgram(['promtool', 'test', 'rules', path.join(monitoring, 'alerts.test.yml')]);
      const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-rules-'));
      const records = shown.map((expr, at) => `  - {record: 'panel:${at}', expr: ${JSON.stringify(expr)}}`);
      const file = path.join(dir, 'panels.yml');
      writeFileSync(file, `groups:\n- name: panels\n  rules:\n${records.join('\n')}\n`);
      await runProgram(['promtool', 'check', 'rules', file]);
      rmSync(dir, { recursive: true });
    },
  );
});
