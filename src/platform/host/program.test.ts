import { afterEach, describe, expect, it, vi } from 'vitest';
import { settings } from '../../config.ts';
import { childEnvironment, runProgram } from './program.ts';

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
