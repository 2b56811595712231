/**
 * `npm run test:mutation`: changes the code that counts money, a little and in one place at a time, and runs its tests. A
 * change that no test notices is a survivor, and each of those is explained in `survivors.ts` or fails the run. By itself it takes
 * the rules that need no database; `-- --database` takes those of tax and ledger that do, for hours. `--only=receivables` takes
 * the files whose path contains this, with the tests of their folder.
 */
import path from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { ensurePackages } from '../../src/platform/host/packages.ts';
import { packagesForTests } from '../packages.ts';
import { explained, type Survivor } from './survivors.ts';

process.chdir(path.join(import.meta.dirname, '../..'));

interface Part {
  mutate: string[];
  config: string;
  /** Leaves out what is decided when a file is loaded: the text of statements. */
  ignoreStatic: boolean;
  /** How long all of its tests together may take, in minutes: they are run once before anything is changed. */
  testMinutes: number;
  /** What starts the product wants a process of its own: a thread may not do all that a product does. */
  pool: 'threads' | 'forks';
}

const rules: Part = {
  mutate: [
    'src/platform/money.ts',
    'src/services/prorate.ts',
    'src/services/share.ts',
    'src/billing/invoices/totals.ts',
    'src/billing/tax/decide.ts',
    'src/billing/tax/union.ts',
    'src/billing/ledger/months.ts',
  ],
  config: 'test/mutation/vitest.config.ts',
  ignoreStatic: false,
  testMinutes: 5,
  pool: 'threads',
};
const withDatabase = (folder: string, names: string[]): Part => ({
  mutate: names.map((name) => `src/billing/${folder}/${name}.ts`),
  config: `test/mutation/vitest.${folder}.config.ts`,
  ignoreStatic: true,
  testMinutes: 30,
  pool: 'forks',
});
const tax = withDatabase('tax', ['ask', 'correct', 'evidence', 'rates', 'report', 'standing', 'taxOf']);
const ledger = withDatabase('ledger', [
  ...['check', 'creditTransactions', 'deferred', 'ledger', 'receivables', 'totals'],
]);

const isWhole = process.argv.includes('--database');
const only = process.argv.find((each) => each.startsWith('--only='))?.slice(7);
if (isWhole) await ensurePackages(packagesForTests(false), console.log);
const files: string[] = [];
const results: Awaited<ReturnType<Stryker['runMutationTest']>> = [];
for (const part of isWhole ? [tax, ledger] : [rules]) results.push(...(await changed(part)));

/** Changes the files of a part, one place at a time, with its tests. */
async function changed({ mutate: all, config, ignoreStatic, testMinutes, pool }: Part) {
  const mutate = all.filter((file) => only === undefined || file.includes(only));
  if (mutate.length === 0) return [];
  files.push(...mutate);
  const stryker = new Stryker({
    mutate,
    testRunner: 'vitest',
    vitest: { configFile: config, related: false, pool },
    plugins: ['@stryker-mutator/vitest-runner'],
    coverageAnalysis: 'perTest',
    ignoreStatic,
    // Node takes the types off by itself; nobody has to know the compiler's settings.
    tsconfigFile: 'none',
    ignorePatterns: ['var', 'dist', 'coverage', 'docs', 'packaging', 'bench'],
    tempDirName: 'var/mutation',
    concurrency: 2,
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: testMinutes,
    reporters: ['progress'],
    allowEmpty: false,
  });
  return stryker.runMutationTest();
}

const found: Survivor[] = [];
const counts = new Map<string, number>();
for (const { fileName, location, mutatorName, replacement, status } of results) {
  counts.set(status, (counts.get(status) ?? 0) + 1);
  if (status !== 'Survived' && status !== 'NoCoverage') continue;
  const file = path.relative(process.cwd(), path.resolve(fileName));
  found.push({ file, line: location.start.line, mutation: mutatorName, to: replacement ?? '' });
}
console.log([...counts].map(([status, count]) => `${count} ${status}`).join(', '));

const unexplained = found.filter((each) => explained(each) === null);
for (const { file, line, mutation, to } of unexplained)
  console.log(`survived: ${file}:${line} ${mutation} → ${to.replaceAll(/\s+/g, ' ')}`);
for (const { file, text, to } of explained.unused(files))
  console.log(`explained, and killed: ${file} ${text} → ${to}`);
process.exit(unexplained.length > 0 || explained.unused(files).length > 0 ? 1 : 0);
