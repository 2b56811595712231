import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ourDescription } from '../../client/description.ts';
import { runProgram } from '../../src/platform/host/program.ts';

interface Operation {
  operationId: string;
  description?: string;
  tags: string[];
}

interface Described {
  info: { description: string; contact?: object };
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
}

const document = ourDescription() as unknown as Described;
const text = JSON.stringify(document);
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

describe('the description', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'innkeeper-lint-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('passes the recommended rules of Redocly without a warning', async () => {
    const file = path.join(directory, 'openapi.json');
    writeFileSync(file, text);
    const cli = path.join(import.meta.dirname, '../../node_modules/@redocly/cli/bin/cli.js');
    // `/webhooks/deliveries/{id}` and `/webhooks/{id}/deliveries` are told apart: ids are numbers, and words come first.
    const but = '--skip-rule=no-ambiguous-paths';
    const argv = [process.execPath, cli, 'lint', '--extends=recommended', but, '--format=json', file];
    // It asks nobody: neither for newer versions nor to tell that it was used.
    const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { stdout } = await runProgram(argv, { env, timeoutMs: 60_000 });
    expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 } });
  });

  // Rules of Spectral's `spectral:oas` that Redocly's do not have. Spectral itself reports its installation to a
  // third party, so it is not among our dependencies.
  it('introduces itself, and says what each tag and each operation is', () => {
    expect(document.info.contact).toBeDefined();
    expect(document.info.description.length).toBeGreaterThan(1_000);
    expect(document.tags.filter((tag) => !tag.description)).toEqual([]);
    const known = document.tags.map((tag) => tag.name);
    expect(operations.filter(({ tags }) => tags.some((tag) => !known.includes(tag)))).toEqual([]);
    const silent = operations.filter(({ description }) => !description);
    expect(silent.map((operation) => operation.operationId)).toEqual([]);
  });

  // JSON Schema asks for what ECMAScript and others share; some clients read patterns without the flag `u`, Python and
  // Go know fewer escapes.
  it('has patterns that mean the same to every reader', () => {
    const patterns = new Set<string>();
    JSON.parse(text, (key, value) => {
      if (key === 'pattern' && typeof value === 'string') patterns.add(value);
      return value;
    });
    expect(patterns.size).toBeGreaterThan(20);
    const own = /\\[pPkbBx]|\\u\{|\\u(?![0-9A-Fa-f]{4})|\(\?(?!:)/;
    expect([...patterns].filter((pattern) => own.test(pattern))).toEqual([]);
    for (const pattern of patterns) {
      const [plain, unicode] = [new RegExp(pattern), new RegExp(pattern, 'u')];
      const one = fc.oneof(
        fc.stringMatching(plain),
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'binary-ascii' }),
      );
      fc.assert(fc.property(one, (value) => plain.test(value) === unicode.test(value)));
    }
  });

  it('has no component that nothing refers to, and no reference that leads nowhere', () => {
    const kinds = ['schemas', 'responses', 'parameters', 'headers'];
    const made = kinds.flatMap((kind) =>
      Object.keys(document.components[kind] ?? {}).map((name) => `#/components/${kind}/${name}`),
    );
    const used = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? ''));
    expect([...used].toSorted()).toEqual(made.toSorted());
  });
});
