import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ApiOptions } from './platform/http/index.ts';

const text = readFileSync(path.join(import.meta.dirname, 'introduction.md'), 'utf8');

/** What the description of the API says first; `contact` is where customers reach the provider. */
export function introduction(version: string, publicUrl: string): ApiOptions['info'] {
  return {
    title: 'Innkeeper',
    version,
    summary: 'Order servers, pay for them, and run them.',
    description: text,
    contact: { name: 'Your provider', url: publicUrl },
  };
}
