import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hashOf } from '../src/drivers/installer/index.ts';
import { apiClient } from '../test/client.ts';
import { until } from '../test/product.ts';
import { orderDedicated } from '../test/rack/stocked.ts';
import { type House, openHouse, temporaryDir, undo } from './house.ts';
import { nowMs, type Pair, ratiosOf, spreadOf } from './measure.ts';
import { type Access, openAccess } from './people.ts';
import type { Figure } from './table.ts';

export interface ServerOptions {
  rounds: number;
  /** Of the system that is sent to servers. */
  imageMb: number;
  /** How often the overview of a server is asked for. */
  overviews: number;
}

const machines = 10;
const patienceMs = 120_000;

/** One image to many servers at once, and what a customer waits for who looks at a server whose BMC says nothing. */
export async function measureServers({ rounds, imageMb, overviews }: ServerOptions): Promise<Figure[]> {
  const dir = await temporaryDir();
  const house = await openHouse(dir, { HYPERVISOR: 'simulator', DEMO_RACK: '2' });
  const access = await openAccess(house);
  undo.push(() => access.close());
  await until(
    async () =>
      (await access.sql(`select 1 from servers where state = 'ready' and profile_id is not null`)).rows,
    (ready) => ready.length === 2,
    patienceMs,
  );
  const image = await imageToMany(house, access, { rounds, imageMb });
  return [...image, await overviewOfSilent(house, access, overviews)];
}

/** As installers fetch it, each a `curl` of its own, over TLS. */
async function imageToMany(
  house: House,
  access: Access,
  { rounds, imageMb }: Pick<ServerOptions, 'rounds' | 'imageMb'>,
): Promise<Figure[]> {
  const bytes = imageMb * 1_000_000;
  const sha256 = await makeTree(house, imageMb);
  const secrets = await provedStarts(access, { sha256, bytes });
  const port = Number(readFileSync(path.join(house.dataDir, 'rack/port'), 'utf8')) + 1;
  const url = `https://127.0.0.1:${port}/installer/image`;
  const rate = async (count: number) => {
    const beganMs = nowMs();
    await Promise.all(secrets.slice(0, count).map((secret) => fetchImage(url, secret, bytes)));
    return (count * bytes) / (nowMs() - beganMs) / 1_000;
  };
  await rate(1); // what it reads lies in memory from then on
  const [pairs, grew]: [Pair[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const theirs = await rate(1);
    const before = residentMib(house.pid);
    let most = before;
    const looking = setInterval(() => {
      most = Math.max(most, residentMib(house.pid));
    }, 50);
    pairs.push({ ours: await rate(machines), theirs });
    clearInterval(looking);
    grew.push(most - before);
  }
  const mbps = (which: keyof Pair) => Math.round(spreadOf(pairs.map((pair) => pair[which])).median);
  return [
    {
      name: `One image of ${imageMb} MB to ${machines} servers at once, bytes a second`,
      against: 'the same to one',
      value: ratiosOf(pairs),
      unit: 'ratio',
      // What two clocks differ by.
      target: { atLeast: 0.95 },
      amounts: `${mbps('ours')} against ${mbps('theirs')} MB/s, TLS, a \`curl\` each`,
      limit: 'one process that encrypts, and those that fetch beside it',
    },
    {
      name: 'Memory that it takes',
      against: `before, for ${(machines * imageMb).toLocaleString('en')} MB that are sent`,
      value: spreadOf(grew),
      unit: 'MiB',
      target: { atMost: 64 },
      amounts: `${machines} at once`,
      limit: 'garbage that is not collected yet',
    },
  ];
}

/** In the place of the one that played servers are told of. */
async function makeTree(house: House, imageMb: number): Promise<string> {
  const folder = path.join(house.dataDir, 'rack/images/tree-tiny');
  const file = path.join(folder, 'tree.tar.zst');
  const part = randomBytes(1_000_000);
  writeFileSync(file, Buffer.concat(Array.from({ length: imageMb }, () => part)));
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const sha256 = hash.digest('hex');
  writeFileSync(path.join(folder, 'sha256'), sha256);
  return sha256;
}

/** Starts that were proved, of work that lets them have the image; nobody starts anything. */
async function provedStarts(access: Access, { sha256, bytes }: { sha256: string; bytes: number }) {
  const { rows } = await access.sql(
    `insert into server_assignments (server_id, kind, state, tree, tree_sha256, tree_bytes, disks, opened_at, powered_at, heard_at)
     select id, 'install', 'working', 'tiny', $1, $2, '[]', now(), now(), now() from servers order by id desc limit 1 returning id`,
    [sha256, bytes],
  );
  const secrets = Array.from({ length: machines }, () => randomBytes(32).toString('hex'));
  for (const [nth, secret] of secrets.entries())
    await access.sql(
      `insert into server_starts (mac, assignment_id, token_hash, secret_hash, nonce, opened_at, claimed_at, proved)
       values ($1::macaddr, $2, $3, $4, $5, now(), now(), true)`,
      [
        `52:54:00:be:00:0${nth}`,
        rows[0]?.id,
        hashOf(`token ${nth}`),
        hashOf(secret),
        randomBytes(16).toString('hex'),
      ],
    );
  return secrets;
}

async function fetchImage(url: string, secret: string, bytes: number): Promise<void> {
  const argv = ['-sS', '--insecure', '--fail', '--output', '/dev/null', '--write-out', '%{size_download}'];
  const fetching = spawn('curl', [...argv, '--header', '@-', url], { stdio: ['pipe', 'pipe', 'inherit'] });
  fetching.stdin.end(`authorization: Bearer ${secret}\n`);
  let said = '';
  fetching.stdout.on('data', (text: Buffer) => {
    said += text;
  });
  await new Promise((resolve) => fetching.once('close', resolve));
  if (Number(said) !== bytes) throw new Error(`${said} of ${bytes} bytes came`);
}

function residentMib(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1_024;
}

/** The rack stands still, so that no BMC of it answers anybody. */
async function overviewOfSilent(house: House, access: Access, count: number): Promise<Figure> {
  const { customer, staff, products } = house.demo;
  const staffs = apiClient(`${house.url}/api`, { token: staff.api_key });
  await staffs.post(`/staff/organizations/${customer.organization_id}/credit`, {
    ...{ amount: '10000.00', currency: 'EUR', description: 'For the bench' },
  });
  const client = apiClient(`${house.url}/api`, {
    ...{ token: customer.api_key, organizationId: customer.organization_id },
  });
  const { serviceId } = await orderDedicated(client, products.dedicated, { option8: 'AMS' });
  await until(
    async () => (await client.get(`/dashboard/services/${serviceId}`)).body.data.service.status as string,
    (status) => status === 'active',
    patienceMs,
  );
  const { pid } = JSON.parse(readFileSync(path.join(house.dataDir, 'rack/place.json'), 'utf8'));
  process.kill(pid, 'SIGSTOP');
  try {
    // It is asked at this moment, and says nothing.
    await access.sql('update server_bmcs set asked_at = null');
    const overview = () => client.get(`/dashboard/service/${serviceId}/dedicated/overview`);
    const silent = await until(
      overview,
      ({ body }) => body.data.dedicated.actions.start.allowed === false,
      patienceMs,
    );
    if (silent.status !== 200) throw new Error(`the overview answered ${silent.status}`);
    const ms: number[] = [];
    for (let nth = 0; nth < count; nth += 1) {
      const beganMs = nowMs();
      const { status } = await overview();
      ms.push(nowMs() - beganMs);
      if (status !== 200) throw new Error(`the overview answered ${status}`);
    }
    const sorted = ms.toSorted((one, other) => one - other);
    const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
    return {
      name: 'Overview of a server whose BMC is silent, 95 % of them within',
      against: 'the clock',
      value: { median: p95, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 },
      unit: 'ms',
      target: { atMost: 100 },
      amounts: `${count} times, one after another; the middle one ${spreadOf(ms).median.toFixed(1)} ms`,
      limit: 'a statement for each part of it; nobody is asked',
    };
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
