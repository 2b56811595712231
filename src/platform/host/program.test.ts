import { afterEach, describe, expect, it, vi } from 'vitest';
import { settings } from '../../config.ts';
import { childEnvironment, runProgram, untilAborted } from './program.ts';

afterEach(() => vi.unstubAllEnvs());

/** Lines with a canary, and no others: a failure is not to print the environment of whoever runs this. */
const leaked = (text: string) => text.split('\n').filter((line) => line.includes('canary'));

describe('the environment of a program', () => {
  it('holds none of our settings, nor anything else that is not named', async () => {
    for (const { name } of settings) vi.stubEnv(name, 'canary');
    vi.stubEnv('PGPASSWORD', 'canary');
    expect(leaked((await runProgram(['env'])).stdout)).toEqual([]);
  });

  it('names its language, its home and, if it ends by itself, the proxies', async () => {
    vi.stubEnv('LC_TIME', 'C.UTF-8');
    vi.stubEnv('https_proxy', 'http://user:canary@proxy:3128');
    const { stdout } = await runProgram(['env'], { env: { SSHPASS: 'asked for' } });
    for (const line of ['LC_TIME=C.UTF-8', `HOME=${process.env.HOME}`, 'SSHPASS=asked for', 'https_proxy='])
      expect(stdout.includes(line), line).toBe(true);
    expect(leaked(Object.values(childEnvironment()).join('\n'))).toEqual([]);
  });
});

describe('work that is given up', () => {
  const quick = { timeout: 10_000 };

  it('ends the programs that it runs, and starts no other', quick, async () => {
    const stopping = new AbortController();
    const after: string[] = [];
    const work = untilAborted(stopping.signal, async () => {
      await runProgram(['sleep', '86400']).catch((error: Error) => after.push(error.message));
      await runProgram(['sleep', '86400']).catch((error: Error) => after.push(error.message));
      return 'given up';
    });
    setTimeout(() => stopping.abort(new Error('nobody waits')), 100);
    expect(await work).toBe('given up');
    expect(after).toEqual(['nobody waits', 'nobody waits']);
  });

  it('does not wait for one that does not hear, nor for what that has started', quick, async () => {
    const stopping = new AbortController();
    const deaf = ['sh', '-c', `trap '' TERM; echo begun; sleep 30 & while :; do sleep 1; done`];
    const work = untilAborted(stopping.signal, () =>
      runProgram(deaf, { onLine: () => stopping.abort(new Error('nobody waits')) }),
    );
    await expect(work).rejects.toThrow('nobody waits');
  });

  it('leaves programs of others alone', quick, async () => {
    const stopping = new AbortController();
    const others = runProgram(['sh', '-c', 'sleep 1; echo here']);
    await untilAborted(stopping.signal, async () => stopping.abort());
    expect((await others).stdout).toBe('here\n');
  });
});
