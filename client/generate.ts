/**
 * `node client/generate.ts`: writes `generated/api.ts`, the types of every operation, from the description that the
 * product gives of itself, and `generated/fields/`, what forms know of each request. The result is not kept in the
 * repository: it follows from the schemas.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeFields } from '../src/dashboard.ts';
import { ourDescription, ourFields } from './description.ts';

const directory = path.join(import.meta.dirname, 'generated');

/** Returns whether anything has changed. */
export async function generateTypes(): Promise<boolean> {
  const description = JSON.stringify(ourDescription());
  mkdirSync(directory, { recursive: true });
  await writeFields(ourFields());
  const source = path.join(directory, 'openapi.json');
  const stamp = path.join(directory, 'made-of');
  const madeOf = createHash('sha256')
    .update(description)
    .update(readFileSync(import.meta.filename))
    .digest('hex');
  if (read(stamp) === madeOf) return false;
  // TypeScript 7 has no interface for programs; the generator still wants the one of TypeScript 6.
  const hooks = registerHooks({
    resolve: (name, context, next) => next(name === 'typescript' ? 'typescript6' : name, context),
  });
  const { default: openapiTypescript, astToString } = await import('openapi-typescript');
  hooks.deregister();
  writeFileSync(source, description);
  const types = await openapiTypescript(pathToFileURL(source), {
    silent: true,
    // What has a default may be left out of a request.
    defaultNonNullable: false,
  });
  writeFileSync(path.join(directory, 'api.ts'), astToString(types));
  writeFileSync(stamp, madeOf);
  return true;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

if (import.meta.main) await generateTypes();
