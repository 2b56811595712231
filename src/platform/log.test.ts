import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';

const importsFor = (format: string) => `
  import { createLog, lineWriter } from '${path.join(import.meta.dirname, 'log.ts')}';
  const log = createLog('info', { format: '${format}' }); const write = lineWriter(log); const number = (line) => log.info({ line }, '');`;
const imports = importsFor('json');

/** What a program of its own leaves on standard error, line by line. */
function linesOf(program: string): { line: number }[] {
  const argv = ['--input-type=module-typescript', '--eval', `${imports}\n${program}`];
  const { stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  return stderr
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { line: number });
}

describe('a log', () => {
  it('is written whole and in order when the process ends at once', () => {
    const lines = linesOf(`number(1); write('{"line":2}\\n'); number(3); process.exit(0);`);
    expect(lines.map(({ line }) => line)).toEqual([1, 2, 3]);
  });

  it('is written whole when nobody ends the process', () => {
    const lines = linesOf(`number(1); setTimeout(() => number(2), 300);`);
    expect(lines.map(({ line }) => line)).toEqual([1, 2]);
  });

  it('is whole and in order as text, too', () => {
    const argv = [
      '--input-type=module-typescript',
      '--eval',
      `${importsFor('text')}
      number(1); write('{"level":"info","line":2,"msg":"two"}\\n'); number(3); process.exit(0);`,
    ];
    const { stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    expect([...stderr.matchAll(/INFO: .*"line":(\d)/g)].map(([, line]) => line)).toEqual(['1', '2', '3']);
  });

  it('keeps every line of a burst', () => {
    const lines = linesOf(
      `for (let i = 0; i < 5_000; i += 1) write('{"line":' + i + '}\\n'); log.flush(() => process.exit(0));`,
    );
    expect(lines.map(({ line }) => line)).toEqual(Array.from({ length: 5_000 }, (_, i) => i));
  });
});

const programs: ChildProcess[] = [];
// One that a test gave up on would print on and on.
afterEach(() => {
  for (const program of programs.splice(0)) program.kill('SIGKILL');
});

/** Starts a program that logs a line every 5 ms until SIGTERM, and says on standard output when it ends. */
function logging(stderr: 'pipe' | number, pad = 10, format = 'json') {
  const program = `${importsFor(format)}
    const pad = 'x'.repeat(${pad});
    let at = 0;
    const timer = setInterval(() => log.info({ line: at += 1, pad }, ''), 5);
    process.on('SIGTERM', () => { clearInterval(timer); log.flush(() => process.exit(7)); });
    console.log('runs');`;
  const argv = ['--input-type=module-typescript', '--eval', program];
  const started = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', stderr] });
  programs.push(started);
  return started;
}

function isLine(line: string, format: string): boolean {
  if (format === 'text') return /^\[\d\d:\d\d:\d\d\] (INFO|WARN): /.test(line);
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

async function endOf(child: ChildProcess): Promise<unknown> {
  const timer = setTimeout(() => child.kill('SIGKILL'), 8_000);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(timer);
  return code ?? signal;
}

describe.each(['json', 'text'])('a log of %s that nobody takes', (format) => {
  it('because the disk is full, leaves the process alone', async () => {
    const full = openSync('/dev/full', 'w');
    const child = logging(full, 10, format);
    closeSync(full);
    await once(child.stdout as Readable, 'data');
    await pause(600);
    expect(child.exitCode).toBe(null);
    child.kill('SIGTERM');
    expect(await endOf(child)).toBe(7);
  });

  it('because its reader is gone, leaves the process alone', async () => {
    const child = logging('pipe', 10, format);
    await once(child.stdout as Readable, 'data');
    child.stderr?.destroy();
    await pause(600);
    expect(child.exitCode).toBe(null);
    child.kill('SIGTERM');
    expect(await endOf(child)).toBe(7);
  });

  it('because its reader stands still, lets the process end', async () => {
    const child = logging('pipe', 20_000, format);
    await once(child.stdout as Readable, 'data');
    await pause(600);
    child.kill('SIGTERM');
    expect(await endOf(child)).toBe(7);
  });

  it('is bounded, and says how much was lost once its reader goes on', async () => {
    const child = logging('pipe', 400_000, format);
    await once(child.stdout as Readable, 'data');
    await pause(1_500);
    const seen = { rest: '', lines: 0, tellsOfLoss: false, broken: [] as string[] };
    const stderr = child.stderr as Readable;
    // Line by line: all of it would soon be more than one string can be.
    stderr.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (seen.rest + chunk).split('\n');
      seen.rest = lines.pop() ?? '';
      for (const line of lines.filter(Boolean)) {
        seen.lines += 1;
        seen.tellsOfLoss ||= line.includes('lines of the log were lost');
        if (!isLine(line, format)) seen.broken.push(line.slice(0, 200));
      }
    });
    // What it printed may come after its end.
    const read = once(stderr, 'close');
    await expect.poll(() => seen.tellsOfLoss).toBe(true);
    child.kill('SIGTERM');
    expect(await endOf(child)).toBe(7);
    await read;
    expect(seen.lines).toBeGreaterThan(1);
    expect([seen.rest, seen.broken]).toEqual(['', []]);
  });
});
