import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runProgram } from '../../platform/host/program.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'innkeeper-rescue-'));
  for (const folder of ['root', 'etc', 'run/innkeeper']) await mkdir(join(dir, folder), { recursive: true });
  await writeFile(join(dir, 'run/innkeeper/calls'), 'header = "authorization: Bearer secret"');
});
afterEach(() => rm(dir, { recursive: true }));

/** What it calls and starts, in its order, each with whether what opens our calls is still there. The programs are stand-ins. */
async function done(): Promise<string[]> {
  const script = await readFile(join(import.meta.dirname, 'scripts/rescue.sh'), 'utf8');
  const standIns = `
    did() { printf '%s %s\\n' "$1" "$([ -e '${dir}/run/innkeeper' ] && echo secret || echo nothing)" >> '${dir}/did'; }
    plan() { echo x; }
    said() { echo ttyS0; }
    say() { :; }
    hostname() { :; }
    report() { did "report $1"; }
    dropbear() { did dropbear; }
    getty() { did getty; exit 0; }
  `;
  const moved = script
    .replace('. /usr/lib/innkeeper/common', standIns)
    .replaceAll(/ (\/(?:root|etc|run)\/)/g, ` ${dir}$1`);
  await runProgram(['sh', '-c', moved]);
  return (await readFile(join(dir, 'did'), 'utf8')).trim().split('\n');
}

it('nobody is let into the rescue system before our last call is over and what it was made with is gone', async () => {
  expect(await done()).toEqual(['report done secret', 'dropbear nothing', 'getty nothing']);
});
