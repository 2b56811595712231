/** `npm run openapi:release`: keeps the description as this release gives it, for the next one to be held against. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ourDescription } from '../../client/description.ts';
import { promisesOf } from './promises.ts';

const file = path.join(import.meta.dirname, 'released.json');
writeFileSync(file, `${JSON.stringify(promisesOf(ourDescription()), null, 1)}\n`);
console.log(
  `${path.relative(process.cwd(), file)} is what this release promises; commit it with the release.`,
);
