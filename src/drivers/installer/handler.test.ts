import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installerHandler } from './handler.ts';
import type { Plan } from './plan.ts';
import { newStart, prove, type Start } from './proof.ts';
import type { Report } from './report.ts';

let starts: Start[];
let reports: Report[];
let plan: Plan;
let server: Server;

beforeEach(async () => {
  starts = [];
  reports = [];
  plan = { task: 'wipe', wipe: ['A1'] };
  const handler = installerHandler({
    find: async (hash) => starts.find((each) => each.tokenHash === hash || each.secretHash === hash) ?? null,
    async keep(start) {
      starts = starts.map((each) => (each.nonce === start.nonce ? start : each));
      return true;
    },
    report: async (_, report) => void reports.push(report),
    plan: async () => plan,
    meanwhile: async () => ({ task: 'wait' }),
    image: async () => ({ bytes: 4, content: Readable.from([Buffer.from('tree')]) }),
  });
  server = createServer(
    (request, response) => void handler(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => void server.close());

function open(): string {
  const { token, start } = newStart();
  starts.push(start);
  return token;
}

async function call(as: string | null, method: string, path: string, body?: unknown) {
  const { port } = server.address() as AddressInfo;
  const headers: Record<string, string> = as === null ? {} : { authorization: `Bearer ${as}` };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(`http://127.0.0.1:${port}/any/${path}`, { method, headers, body: text });
  return { status: answer.status, body: await answer.text() };
}

const mine = 'a'.repeat(64);
const theirs = 'b'.repeat(64);

describe('the calls of an installer', () => {
  it('begin with a claim, by which the token becomes a secret of its own', async () => {
    const token = open();
    expect(await call(token, 'POST', 'claim', { secret: mine })).toMatchObject({
      status: 200,
      body: JSON.stringify({ nonce: starts[0]?.nonce }),
    });
    expect(await call(token, 'POST', 'claim', { secret: mine })).toMatchObject({ status: 200 });
    expect(await call(token, 'POST', 'claim', { secret: theirs })).toMatchObject({ status: 403 });
    expect(await call(token, 'GET', 'plan')).toMatchObject({ status: 403 });
    expect(await call(token, 'POST', 'report', { kind: 'done' })).toMatchObject({ status: 403 });
    expect(await call(mine, 'POST', 'report', { kind: 'done' })).toMatchObject({ status: 200 });
    expect(reports).toEqual([{ kind: 'done' }]);
  });

  it('open plan and image to the start that is proved, and to no other', async () => {
    for (const secret of [mine, theirs]) await call(open(), 'POST', 'claim', { secret });
    for (const secret of [mine, theirs]) {
      expect(await call(secret, 'GET', 'plan')).toEqual({ status: 200, body: '{"task":"wait"}' });
      expect(await call(secret, 'GET', 'image')).toMatchObject({ status: 403 });
    }
    starts = prove(starts, starts[0]?.nonce ?? '');
    expect(await call(mine, 'GET', 'plan')).toEqual({ status: 200, body: JSON.stringify(plan) });
    expect(await call(mine, 'GET', 'image')).toEqual({ status: 200, body: 'tree' });
    expect(await call(theirs, 'GET', 'plan')).toMatchObject({ status: 403 });
    expect(await call(theirs, 'GET', 'image')).toMatchObject({ status: 403 });
  });

  it('of somebody without a start are refused', async () => {
    for (const as of [null, 'x', mine, '%00'])
      for (const [method, path] of [
        ['POST', 'claim'],
        ['POST', 'report'],
        ['GET', 'plan'],
        ['GET', 'image'],
      ] as const)
        expect(await call(as, method, path)).toMatchObject({ status: 403 });
  });

  it('that make no sense are refused, and nothing is reported', async () => {
    const token = open();
    expect(await call(token, 'POST', 'claim', { secret: 'short' })).toMatchObject({ status: 422 });
    await call(token, 'POST', 'claim', { secret: mine });
    for (const body of ['{', 'null', { kind: 'inventory' }, { kind: 'step' }, `"${'x'.repeat(3_000_000)}"`])
      expect(await call(mine, 'POST', 'report', body)).toMatchObject({ status: 422 });
    expect(await call(mine, 'DELETE', 'plan')).toMatchObject({ status: 404 });
    expect(reports).toEqual([]);
  });

  it('to what is no path are refused', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.end('GET // HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
  });

  it('never bring a plan that has no meaning', async () => {
    await call(open(), 'POST', 'claim', { secret: mine });
    starts = prove(starts, starts[0]?.nonce ?? '');
    plan = { task: 'wipe', wipe: ['A1\nB2'] };
    expect(await call(mine, 'GET', 'plan')).toMatchObject({ status: 422 });
  });
});
