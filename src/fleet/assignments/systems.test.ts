import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { PackedSystem } from '../../drivers/installer/index.ts';
import type { ServerSystem } from '../serverImages.ts';
import { patient } from './systems.ts';

const debian: ServerSystem = { kind: 'tree', tree: 'debian-12' };
const tree: PackedSystem = { file: '/trees/debian-12', sha256: 'a'.repeat(64), disk: null };
const times = { waitMs: 20, tryEveryMs: 100 };

it('a tree that is built is built once, and says meanwhile how far it is', async () => {
  const built = Promise.withResolvers<PackedSystem>();
  let begun = 0;
  const systemOf = patient((_, say) => {
    begun += 1;
    say('installing Debian');
    return built.promise;
  }, times);
  const told = await Promise.all([systemOf(debian), systemOf(debian)]);
  expect(told[0]).toEqual({ problem: 'installing Debian', isBuilding: true });
  expect(told[1]).toEqual(told[0]);
  await pause(3 * times.tryEveryMs);
  // However long it takes, nobody begins it beside.
  expect(await systemOf(debian)).toEqual(told[0]);
  expect(begun).toBe(1);
  built.resolve(tree);
  expect(await systemOf(debian)).toEqual(tree);
});

it('one that failed is tried again, and whoever waits is told why it failed, not that it is under way', async () => {
  const tries = [Promise.withResolvers<PackedSystem>(), Promise.withResolvers<PackedSystem>()];
  let begun = 0;
  const systemOf = patient(() => tries[begun++]?.promise ?? Promise.reject(new Error('too often')), times);
  tries[0]?.reject(new Error('apt knows no mirror'));
  const failed = { problem: 'apt knows no mirror', isBuilding: false };
  expect(await systemOf(debian)).toEqual(failed);
  expect(await systemOf(debian)).toEqual(failed);
  expect(begun).toBe(1);
  await pause(2 * times.tryEveryMs);
  expect(await systemOf(debian)).toEqual(failed);
  expect(begun).toBe(2);
  tries[1]?.resolve(tree);
  expect(await systemOf(debian)).toEqual(tree);
});
