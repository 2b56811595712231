/** `node generate.ts <openapi.json> <directory>`: makes clients of the description with two generators. */
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// TypeScript 7 has no interface for programs; these generators still want the one of TypeScript 6.
registerHooks({
  resolve: (name, context, next) => next(name === 'typescript' ? 'typescript6' : name, context),
});

const [input = '', directory = ''] = process.argv.slice(2);
const { default: openapiTypescript, astToString } = await import('openapi-typescript');
const types = await openapiTypescript(pathToFileURL(path.resolve(input)), { silent: true });
writeFileSync(path.join(directory, 'types.ts'), astToString(types));

const { createClient } = await import('@hey-api/openapi-ts');
await createClient({
  input,
  output: { path: path.join(directory, 'client'), module: { extension: '.ts' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent' },
});
