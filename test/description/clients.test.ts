/** Clients that generators make of the description: they compile, and a short program on each runs a machine. */
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ourDescription } from '../../client/description.ts';
import { runProgram } from '../../src/platform/host/program.ts';
import { startTestProduct, type TestProduct } from '../product.ts';

const modules = path.join(import.meta.dirname, '../../node_modules');
const programs = ['withTypes.ts', 'withClient.ts'];
/** Ten seconds of a processor each, which six files may be using. */
const toMake = 150_000;
const compilerOptions = {
  ...{
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    strict: true,
    noEmit: true,
  },
  ...{ module: 'nodenext', moduleResolution: 'nodenext', allowImportingTsExtensions: true },
};

let product: TestProduct;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'innkeeper-clients-'));
  symlinkSync(modules, path.join(directory, 'node_modules'));
  for (const program of programs) {
    copyFileSync(path.join(import.meta.dirname, 'clients', program), path.join(directory, program));
  }
  writeFileSync(path.join(directory, 'package.json'), '{ "type": "module" }');
  writeFileSync(path.join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: programs }));
  writeFileSync(path.join(directory, 'openapi.json'), JSON.stringify(ourDescription()));
  const generate = path.join(import.meta.dirname, 'generate.ts');
  await runProgram([process.execPath, generate, path.join(directory, 'openapi.json'), directory], {
    timeoutMs: toMake,
  });
  product = await startTestProduct();
});
afterAll(async () => {
  await product?.stop();
  rmSync(directory, { recursive: true, force: true });
});

it('openapi-typescript and Hey API make clients that compile with the programs on them', {
  timeout: 180_000,
}, async () => {
  const tsc = path.join(modules, 'typescript/bin/tsc');
  const { stdout } = await runProgram([process.execPath, tsc, '-p', directory], { timeoutMs: toMake });
  expect(stdout).toBe('');
});

it.each(programs)('%s orders, pays, waits for and stops a machine', async (program) => {
  const { customer, products } = product.demo;
  const { api_key: key, organization_id: organization } = customer;
  const argv = [`${product.url}/api`, key, String(organization), String(products.vps)];
  const { stdout } = await runProgram([process.execPath, path.join(directory, program), ...argv], {
    timeoutMs: 60_000,
  });
  expect(JSON.parse(stdout)).toEqual(['paid', 'active', 'success', 'stopped']);
});
