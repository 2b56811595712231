import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const imports = `import { createLog, lineWriter } from '${path.join(import.meta.dirname, 'log.ts')}';
  const log = createLog('info'); const write = lineWriter(log); const number = (line) => log.info({ line }, '');`;

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

  it('keeps every line of a burst', () => {
    const lines = linesOf(
      `for (let i = 0; i < 5_000; i += 1) write('{"line":' + i + '}\\n'); log.flush(() => process.exit(0));`,
    );
    expect(lines.map(({ line }) => line)).toEqual(Array.from({ length: 5_000 }, (_, i) => i));
  });
});
