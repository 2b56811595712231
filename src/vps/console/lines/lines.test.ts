import { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../../../test/orders.ts';
import { startTestProduct, type TestProduct } from '../../../../test/product.ts';
import { sql } from '../../../../test/sql.ts';
import { answerTo, isAnswer, makePass, ownAddress, passReader } from '../../../consoles/index.ts';
import type { HypervisorOf } from '../../../drivers/hypervisor/index.ts';
import { type Beaten, claim, findHolder, release, takeOver } from './holders.ts';
import { consoleLines, hasEnded, LineElsewhere, watchHolder } from './lines.ts';

let product: TestProduct;
let id: number;
beforeAll(async () => {
  product = await startTestProduct();
  ({ serviceId: id } = await runningVps(product, product.customer));
});
afterAll(() => product.stop());

const process = (nth: number) => ({
  process: `00000000-0000-4000-8000-00000000000${nth}`,
  address: `http://127.0.0.1:${nth}`,
});
const openers = () => {
  const opened: Duplex[] = [];
  const openConsole = async () => {
    const line = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    opened.push(line);
    return line;
  };
  return { opened, hypervisorOf: (() => ({ openConsole })) as unknown as HypervisorOf };
};

describe('who holds a line', () => {
  it('is one of all who claim it at the same moment, and of all who take it over', async () => {
    const claims = await Promise.all([1, 2, 3, 4].map((nth) => claim(product.ctx, id, process(nth))));
    const holder = await findHolder(product.ctx, id);
    if (holder === null) throw new Error('nobody holds it');
    expect(claims.every((each) => each === null || each.holder === holder.holder)).toBe(true);
    await Promise.all([5, 6, 7].map((nth) => takeOver(product.ctx, id, holder, process(nth))));
    const next = await findHolder(product.ctx, id);
    expect([5, 6, 7].map((nth) => process(nth).process)).toContain(next?.holder);
    // Who was seen before is the holder no more: it takes nothing away from the next one.
    await takeOver(product.ctx, id, holder, process(8));
    await release(product.ctx, id, holder.holder);
    expect(await findHolder(product.ctx, id)).toEqual(next);
    await release(product.ctx, id, next?.holder ?? '');
    expect(await findHolder(product.ctx, id)).toBeNull();
  });

  it('lives while its count goes up, whatever its clock says, and is dead when it does not', async () => {
    const seen = await claim(product.ctx, id, process(1));
    if (seen === null) throw new Error('nobody holds it');
    const watched = watchHolder(product.ctx, id, seen);
    await sql(product, `update console_lines set beats = beats + 1, seen_at = '2020-01-01'`);
    expect(await watched).toBe('lives');
    const before = await findHolder(product.ctx, id);
    if (before === null) throw new Error('nobody holds it');
    // A minute old is no living process's.
    expect(await watchHolder(product.ctx, id, before)).toEqual(before);
    const fresh = { ...before, seen_at: product.clock.now() };
    const began = performance.now();
    expect(await watchHolder(product.ctx, id, fresh)).toMatchObject({ beats: before.beats });
    expect(performance.now() - began).toBeGreaterThan(3_900);
    const gone = watchHolder(product.ctx, id, fresh);
    await release(product.ctx, id, before.holder);
    expect(await gone).toBe('changed');
  });

  it('gives it up with its last viewer, and what was opened meanwhile is a line of its own', async () => {
    const { opened, hypervisorOf } = openers();
    const lines = consoleLines(product.ctx, hypervisorOf, () => process(1));
    const [first, second] = await Promise.all([lines.open(id), lines.open(id)]);
    first.destroy();
    await expect.poll(() => first.closed).toBe(true);
    expect(await findHolder(product.ctx, id)).toMatchObject({ holder: process(1).process });
    second.destroy();
    const third = await lines.open(id);
    expect(await findHolder(product.ctx, id)).toMatchObject({ holder: process(1).process });
    expect(opened).toHaveLength(3);
    await lines.close();
    expect(third.destroyed).toBe(true);
    expect(await findHolder(product.ctx, id)).toBeNull();
    expect(lines.join(id)).toBeNull();
  });

  it('is not pushed aside by one that does not reach it, and is followed once dead', {
    timeout: 20_000,
  }, async () => {
    const { hypervisorOf } = openers();
    const lines = consoleLines(product.ctx, hypervisorOf, () => process(2));
    await claim(product.ctx, id, process(1));
    const beating = setInterval(() => void sql(product, 'update console_lines set beats = beats + 1'), 500);
    await expect(lines.open(id)).rejects.toBeInstanceOf(LineElsewhere);
    clearInterval(beating);
    await lines.open(id);
    expect(await findHolder(product.ctx, id)).toMatchObject({ holder: process(2).process });
    await lines.close();
  });

  it('has nothing left when its engine opens no line', async () => {
    const refusing = (() => ({
      openConsole: () => Promise.reject(new Error('no')),
    })) as unknown as HypervisorOf;
    const lines = consoleLines(product.ctx, refusing, () => process(1));
    await expect(lines.open(id)).rejects.toThrow('no');
    await expect.poll(() => findHolder(product.ctx, id)).toBeNull();
  });
});

describe('a line', () => {
  const at = new Date('2026-01-01T00:00:00Z');
  const machine = { node_id: 1, incarnation: 1, started_at: at };
  const now = (more: Partial<Beaten> = {}): Beaten => ({
    ...machine,
    service_id: 1,
    state: 'running',
    ...more,
  });

  it.each<[string, Beaten | undefined, boolean]>([
    ['goes on while nothing is different', now(), false],
    ['goes on while its machine shuts down', now({ state: 'stopping' }), false],
    ['ends when another process has it', undefined, true],
    ['ends when its machine is on another node', now({ node_id: 2 }), true],
    ['ends when its machine was started anew', now({ started_at: new Date(at.getTime() + 1) }), true],
    ['ends when its machine is off', now({ state: 'stopped' }), true],
    ['ends when its service is suspended', now({ state: 'suspended' }), true],
  ])('%s', (_what, seen, isOver) => {
    expect(hasEnded(machine, seen)).toBe(isOver);
  });
});

describe('a pass', () => {
  it('is read once, by processes with the same key, within a minute', () => {
    const { pass } = makePass(product.ctx, { serviceId: id, what: 'line' }, process(1).process);
    const read = passReader(product.ctx);
    expect(read(pass)).toMatchObject({ serviceId: id, holder: process(1).process });
    expect(read(pass)).toBeNull();
    for (const wrong of ['', 'x', pass.slice(0, -2), `A${pass.slice(1)}`]) expect(read(wrong)).toBeNull();
    const late = makePass(product.ctx, { serviceId: id, what: 'line' }, process(1).process).pass;
    product.clock.travel(61_000);
    expect(read(late)).toBeNull();
  });

  it('is answered by who could read it, and what a stranger says is no answer', () => {
    const { pass, nonce } = makePass(product.ctx, { serviceId: id, what: 'line' }, process(1).process);
    const read = passReader(product.ctx)(pass);
    if (read === null) throw new Error('it is not read');
    const answer = answerTo(product.ctx, read);
    expect(isAnswer(product.ctx, answer, nonce)).toBe(true);
    for (const wrong of [undefined, '', pass, answer.slice(1)])
      expect(isAnswer(product.ctx, wrong, nonce)).toBe(false);
    expect(isAnswer(product.ctx, answer, 'another')).toBe(false);
  });
});

it.each([
  [null, '10.0.0.5', 'http://10.0.0.5:'],
  [null, '::1', 'http://[::1]:'],
  ['https://one.internal/', '0.0.0.0', 'https://one.internal'],
])('a process is reached at %s, else at its own address %s', (processUrl, host, expected) => {
  const server = { address: () => ({ port: 8_080 }) } as never;
  const port = processUrl === null ? '8080' : '';
  expect(ownAddress({ processUrl, host, role: 'all', workerHost: '10.9.9.9' }, server)).toBe(
    `${expected}${port}`,
  );
});
