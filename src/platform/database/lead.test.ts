import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testDatabase } from '../../../test/database.ts';
import { createLog } from '../log.ts';
import { type AskLeading, startLeading } from './lead.ts';
import { statement } from './statement.ts';

const log = createLog('silent');

const leads = `
  import { startLeading } from ${JSON.stringify(path.join(import.meta.dirname, 'lead.ts'))};
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  startLeading(process.argv[1], 'test', (signal) => new Promise((resolve) => {
    console.log('leads');
    signal.addEventListener('abort', () => { console.log('lost'); resolve(); });
  }), log);
`;

interface OtherProcess {
  child: ChildProcess;
  /** What it has said of its lead, in order. */
  said: string[];
}

/** A process that leads as soon as it may; it does. */
async function leader(url: string): Promise<OtherProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', leads, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  child.stdout?.on('data', (bytes: Buffer) => said.push(...bytes.toString().trim().split('\n')));
  await expect.poll(() => said, { timeout: 10_000 }).toEqual(['leads']);
  return { child, said };
}

async function database(): Promise<string> {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  return url;
}

// Each waits for as long as a server bears silence.
describe.concurrent('what one process does at a time', { timeout: 90_000 }, () => {
  it('is done by another one when it hangs, and it hears of that when it goes on', async () => {
    const url = await database();
    const { child, said } = await leader(url);
    let isLed = false;
    const lead = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        isLed = true;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    onTestFinished(startLeading(url, 'test', lead, log));
    // Its kernel goes on to answer for it, so nothing but its silence tells.
    child.kill('SIGSTOP');
    await expect.poll(() => isLed, { timeout: 40_000, interval: 200 }).toBe(true);
    child.kill('SIGCONT');
    await expect.poll(() => said).toEqual(['leads', 'lost']);
  });

  it('stays with a process that has nothing to say to the database', async () => {
    const { said } = await leader(await database());
    await new Promise((resolve) => setTimeout(resolve, 25_000));
    expect(said).toEqual(['leads']);
  });
});

it('several things that one process does at a time are done side by side, and the driver holds none of what they ask back', async () => {
  const url = await database();
  const warned: string[] = [];
  const hear = ({ message }: Error) => warned.push(message);
  process.on('warning', hear);
  onTestFinished(() => void process.off('warning', hear));
  const one = statement<{ x: number }>('leadTest.one', 'select 1 as x');
  const answers: unknown[] = [];
  for (const name of ['a', 'b', 'c']) {
    const work = async (signal: AbortSignal, ask: AskLeading) => {
      answers.push(...(await Promise.all([1, 2, 3].map(() => ask(one, {})))));
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    };
    onTestFinished(startLeading(url, name, work, log));
  }
  await expect.poll(() => answers.length).toBe(9);
  expect(warned.filter((message) => message.includes('client.query()'))).toEqual([]);
});
