import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { openPainter } from './painter.ts';
import { createLog } from './platform/log.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

/** What draws, as it is built: `draw` has what the API answered to somebody as `given`. */
function drawnBy(draw: string) {
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-painter-'));
  dirs.push(dir);
  const starts = path.join(dir, 'starts');
  const file = path.join(dir, 'paint.mjs');
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(starts)}, '.');
    const busy = (ms) => { for (const until = Date.now() + ms; Date.now() < until; ); };
    export async function paintServices(given) { ${draw} }`,
  );
  return { file, starts: () => (existsSync(starts) ? readFileSync(starts, 'utf8').length : 0) };
}

const drawing = "return { language: 'en', html: String(given.account.user.id), styles: '' };";

/** Somebody who asks for pages: what is painted of one within the patience of whoever waits for it, null when nothing is. */
async function peopleOf(file: string) {
  const paint = await openPainter(file, createLog('silent'));
  if (paint === undefined) throw new Error('nothing paints');
  let asked = 0;
  const page = async (id: number): Promise<string | null> => {
    const ask = async (target: string) => {
      asked += 1;
      const data = target.includes('/account')
        ? { user: { id }, staff: null }
        : target.includes('/services')
          ? { services: [{ id: 1 }] }
          : {};
      return JSON.stringify({ data });
    };
    const painting = paint('/services', { organizationId: 1, scheme: 'light' }, ask);
    const painted = Promise.resolve(painting).then(
      (found) => found?.html ?? null,
      () => null,
    );
    return Promise.race([painted, pause(300, null)]);
  };
  return { page, asked: () => asked };
}

const patient = { timeout: 15_000, interval: 100 };

it('a page that hangs keeps others from being painted for seconds, and not for good', {
  timeout: 30_000,
}, async () => {
  const { page } = await peopleOf(drawnBy(`if (given.account.user.id === 7) for (;;); ${drawing}`).file);
  await expect.poll(() => page(1), patient).toBe('1');
  expect(await page(7)).toBeNull();
  await expect.poll(() => page(1), patient).toBe('1');
});

it('who asks for many pages at once leaves others theirs', { timeout: 30_000 }, async () => {
  const { page } = await peopleOf(drawnBy(`busy(20); ${drawing}`).file);
  await expect.poll(() => page(1), patient).toBe('1');
  const many = Array.from({ length: 100 }, () => page(7));
  await pause(30);
  expect(await page(1)).toBe('1');
  await Promise.all(many);
});

it('who asks for pages as many people leaves nobody waiting behind them', { timeout: 30_000 }, async () => {
  const { page } = await peopleOf(drawnBy(`busy(20); ${drawing}`).file);
  await expect.poll(() => page(1), patient).toBe('1');
  await Promise.all(Array.from({ length: 100 }, (_, nth) => page(10 + nth)));
  expect(await page(1)).toBe('1');
});

it('where what draws cannot begin it is not begun for each page, and nothing is asked for in vain', async () => {
  const { file, starts } = drawnBy(drawing);
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nthrow new Error('no');`);
  const { page, asked } = await peopleOf(file);
  for (let time = 0; time < 8; time += 1) {
    expect(await page(1)).toBeNull();
    await pause(150);
  }
  expect(starts()).toBe(1);
  expect(asked()).toBe(0);
});
