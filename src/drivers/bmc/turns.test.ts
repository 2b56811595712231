import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ask, until } from './turns.ts';

it('asks a BMC one thing at a time, and another one meanwhile', async () => {
  const running = new Map<string, number>();
  let most = 0;
  let mostInAll = 0;
  const work = (bmc: string) => async () => {
    const of = (running.get(bmc) ?? 0) + 1;
    running.set(bmc, of);
    most = Math.max(most, of);
    mostInAll = Math.max(
      mostInAll,
      [...running.values()].reduce((a, b) => a + b),
    );
    await delay(5);
    running.set(bmc, of - 1);
  };
  await Promise.all(['a', 'b', 'a', 'b', 'a'].map((bmc) => ask(bmc, until(5_000), work(bmc))));
  expect([most, mostInAll]).toEqual([1, 2]);
});

it('never asks what had no turn by its deadline, and says so at that time', async () => {
  const asked: string[] = [];
  const long = ask('c', until(5_000), async () => {
    asked.push('long');
    await delay(600);
  });
  const beganMs = performance.now();
  const late = ask('c', until(50), async () => void asked.push('late'));
  await expect(late).rejects.toEqual(
    expect.objectContaining({ code: 'bmc_silent', waits: true, wasAsked: false }),
  );
  expect(performance.now() - beganMs).toBeLessThan(500);
  await long;
  await ask('c', until(5_000), async () => void asked.push('next'));
  expect(asked).toEqual(['long', 'next']);
});

it('goes on after one that failed', async () => {
  await expect(ask('d', until(1_000), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await ask('d', until(1_000), async () => 7)).toBe(7);
});
