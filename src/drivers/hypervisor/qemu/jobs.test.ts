import { describe, expect, it } from 'vitest';
import { abandonJob, finishJob } from './jobs.ts';
import type { Monitor } from './monitor.ts';

/** A QEMU that was taken over, and says of its job what it likes. */
function saying(job: () => object | null) {
  const asked: string[] = [];
  const command = async (name: string) => {
    asked.push(name);
    if (name !== 'query-jobs') return {};
    const said = job();
    return said === null ? 'nonsense' : [said];
  };
  return { asked, monitor: { command } as unknown as Monitor };
}

describe('a job of a hostile machine', () => {
  const patience = { timeoutMs: 1_500, stalledMs: 300 };

  it('that makes no step is given up', async () => {
    const { monitor } = saying(() => ({ id: 'j', status: 'running', 'current-progress': 5 }));
    await expect(finishJob(monitor, 'j', patience)).rejects.toThrow('has made no step for');
  });

  it('that makes steps for ever is given up at its deadline', async () => {
    let steps = 0;
    const { monitor } = saying(() => ({ id: 'j', status: 'running', 'current-progress': ++steps }));
    await expect(finishJob(monitor, 'j', patience)).rejects.toThrow('is not done after');
  });

  it.each([Number.NaN, -1, '7', 2 ** 70, null])('that says %s of its progress makes none', async (said) => {
    const { monitor } = saying(() => ({ id: 'j', status: 'running', 'current-progress': said }));
    await expect(finishJob(monitor, 'j', patience)).rejects.toThrow('has made no step for');
  });

  it('that is no list is gone, and what was not there need not be ended', async () => {
    const { monitor, asked } = saying(() => null);
    await expect(finishJob(monitor, 'j', patience)).rejects.toThrow('is gone');
    await abandonJob(monitor, 'j');
    expect(asked).not.toContain('job-cancel');
  });

  it('that ends is taken away, and its error is told in plain words', async () => {
    const { monitor, asked } = saying(() => ({ id: 'j', status: 'concluded', error: 'no\u0000 space' }));
    await expect(finishJob(monitor, 'j', patience)).rejects.toThrow('no space');
    expect(asked).toContain('job-dismiss');
  });
});
