/** The password of a BMC is sealed in its row and told to the BMC, and is nowhere else: whatever that says, over IPMI and over Redfish. */
import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Demo } from '../src/demo/index.ts';
import { certificates, type StandIn, standIn } from '../src/drivers/hypervisor/incus/standIn.testbed.ts';
import { prepareDataDir } from '../src/platform/host/dataDir.ts';
import { apiClient, type Client } from './client.ts';
import { type ProductChild, startProductChild } from './crash/child.ts';
import { until } from './product.ts';
import { type ToldIpmitool, toldIpmitool } from './rack/toldIpmitool.ts';
import { contents, sql } from './sql.ts';

const word = (name: string) => `${name}-${randomBytes(6).toString('hex')}`.slice(0, 16);
const secrets = { ipmi: word('Ip'), wrongIpmi: word('Wi'), redfish: word('Rf'), wrongRedfish: word('Wr') };

let dataDir: string;
let ipmitool: ToldIpmitool;
let stands: [StandIn, StandIn];
let child: ProductChild;
let staff: Client;
let database: { databaseUrl: string };
let certificate: string;
const answers: string[] = [];

const system = '/redfish/v1/Systems/1';
const link = (at: string) => ({ '@odata.id': at });
const resources: Record<string, unknown> = {
  '/redfish/v1/': {
    ...{ Systems: link('/redfish/v1/Systems'), Managers: link('/redfish/v1/Managers') },
    UUID: 'a1234567-89ab-4def-a123-456789abcdef',
  },
  '/redfish/v1/Systems': { Members: [link(system)] },
  '/redfish/v1/Managers': { Members: [link('/redfish/v1/Managers/1')] },
  '/redfish/v1/Managers/1': { FirmwareVersion: '1.0' },
  [system]: { PowerState: 'On', Boot: { BootSourceOverrideEnabled: 'Disabled' } },
};

/** It repeats what it was told, as no BMC should. */
function say(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'innkeeper-canary-bmc-'));
  ipmitool = toldIpmitool();
  ipmitool.letsIn(secrets.ipmi);
  const { cluster } = await certificates();
  certificate = new X509Certificate(cluster.certificate).fingerprint256;
  const answering: StandIn['answer'] = (request, response) => {
    const at = request.url ?? '';
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', () => {
      const isIn = text.includes(secrets.redfish);
      if (request.method === 'POST' && at.endsWith('/Sessions'))
        return isIn
          ? say(response, 201, {}, { 'x-auth-token': 't', location: '/redfish/v1/SessionService/Sessions/1' })
          : say(response, 401, { error: { message: `Not with ${text}` } });
      if (request.method !== 'GET')
        return say(response, 400, { error: { message: `Not so, ${secrets.redfish}: ${text}` } });
      const found = resources[at] ?? resources[`${at}/`];
      return say(response, found === undefined ? 404 : 200, found ?? {});
    });
  };
  // No two servers have one BMC.
  stands = [await standIn(cluster, answering), await standIn(cluster, answering)];
  child = startProductChild({
    PATH: `${ipmitool.dir}:${process.env.PATH}`,
    DATA_DIR: dataDir,
    HYPERVISOR: 'simulator',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'trace',
  });
  const url = await child.ready;
  const place = await prepareDataDir(dataDir);
  database = {
    databaseUrl: `postgres://innkeeper@/innkeeper?host=${encodeURIComponent(path.join(place.runDir, 'postgres'))}`,
  };
  const demo = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as Demo;
  staff = apiClient(`${url}/api`, { token: demo.staff.api_key });
}, 180_000);
afterAll(async () => {
  child?.kill('SIGTERM');
  await child?.exited;
  for (const stand of stands ?? []) stand.close();
  ipmitool?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

let made = 0;
async function newServer(kind: 'ipmi' | 'redfish', password: string): Promise<number> {
  made += 1;
  const bmc = { kind, address: `198.51.100.${made}`, user: 'root', password };
  const answer = await staff.post('/staff/servers', {
    ...{ name: `c${made}`, serial: `C/N ${made}` },
    bmc: kind === 'redfish' ? { ...bmc, certificate } : bmc,
  });
  answers.push(JSON.stringify(answer.body));
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { id } = answer.body.data.server;
  // No host of its own is behind an address of loopback, which staff is told; the test is there.
  const { hostname, port } = new URL(stands[password === secrets.redfish ? 0 : 1].url);
  if (kind === 'redfish')
    await sql(
      database,
      'update server_bmcs set address = $2::inet, port = $3::integer where server_id = $1',
      ...[id, hostname, Number(port)],
    );
  return id;
}

/** Everything that is asked of its BMC by staff, to the end. */
async function work(id: number): Promise<void> {
  for (const [route, body] of [
    ['stop', { force: true }],
    ['readings', {}],
    ['start', {}],
  ] as const) {
    const asked = await staff.post(`/staff/servers/${id}/${route}`, body);
    answers.push(JSON.stringify(asked.body));
    expect(asked.status, JSON.stringify(asked.body)).toBe(200);
    await until(
      () =>
        sql<{ n: number }>(
          database,
          `select count(*)::int as n from jobs where (payload ->> 'serverId')::bigint = $1 and state in ('ready', 'running')`,
          id,
        ),
      ([row]) => row?.n === 0,
      120_000,
    );
  }
  for (const at of [
    `/staff/servers/${id}`,
    `/staff/servers/${id}/readings`,
    '/staff/attention',
    '/staff/jobs',
  ])
    answers.push(JSON.stringify((await staff.get(at)).body));
}

function secretsIn(text: string): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const bytes = Buffer.from(secret);
    const spellings = [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')];
    return spellings.some((spelling) => text.includes(spelling)) ? [name] : [];
  });
}

describe('the password of a BMC', { timeout: 240_000 }, () => {
  beforeAll(async () => {
    const [right, wrong] = [
      await newServer('ipmi', secrets.ipmi),
      await newServer('ipmi', secrets.wrongIpmi),
    ];
    const [known, unknown] = [
      await newServer('redfish', secrets.redfish),
      await newServer('redfish', secrets.wrongRedfish),
    ];
    await Promise.all([right, wrong, known, unknown].map(work));
    // It is looked at that both were spoken to, and let in or not.
    const { body: heard } = await staff.get(`/staff/servers/${wrong}`);
    expect(heard.data.server.bmc.action_problem).toMatch(/let us in/);
    const { body: refused } = await staff.get(`/staff/servers/${unknown}`);
    expect(refused.data.server.bmc.action_problem).toMatch(/let us in/);
    expect(ipmitool.suites()).toContain(17);
    expect(stands[0].asked).toContain(`GET ${system}`);
    // And refused, with a secret in it.
    answers.push(
      JSON.stringify(
        (await staff.patch(`/staff/servers/${right}`, { bmc: { kind: 'ipmi', password: secrets.ipmi } }))
          .body,
      ),
    );
  }, 230_000);

  it('is found when it is there', () => {
    for (const [name, secret] of Object.entries(secrets)) expect(secretsIn(`x${secret}y`)).toEqual([name]);
  });

  it('is in no answer to staff', () => {
    expect(answers.length).toBeGreaterThan(20);
    expect(secretsIn(answers.join('\n'))).toEqual([]);
  });

  it('is in no line of the log', () => {
    const lines = child
      .printed()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(lines.length).toBeGreaterThan(20); // it did log
    expect(secretsIn(lines.join('\n'))).toEqual([]);
  });

  it('is in no row of the database: journal, jobs, readings or any other', async () => {
    const tables = await contents(database);
    const found = Object.entries(tables).flatMap(([table, rows]) =>
      secretsIn(rows.join('\n')).map((name) => `${name} in ${table}`),
    );
    expect(found).toEqual([]);
    expect(tables.server_bmcs?.length).toBe(4);
    expect(tables.journal?.filter((row) => row.includes('server.power_failed')).length).toBeGreaterThan(1);
  });

  it('is in no argument of the programs that speak to it', () => {
    expect(ipmitool.argued()).toContain('-C 17');
    expect(secretsIn(ipmitool.argued())).toEqual([]);
  });
});
