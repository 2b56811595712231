import { Type } from 'typebox';
import { Strict } from '../../platform/http/index.ts';
import { settings } from '../../settings/index.ts';

const Front = (pattern: string, description: string, example: string) =>
  Type.String({
    pattern,
    'x-message': `must be at most 10 capital letters, digits and hyphens, such as ${example}`,
    description,
    examples: [example],
  });

/** How numbers of documents look. A change begins another series; numbers that were given stay. */
export const numbering = settings({
  name: 'numbering',
  about: 'How invoices are numbered: `INV-2026-000123`, each series without a gap',
  shape: Strict({
    prefix: Front('^[A-Z0-9-]{0,10}$', 'What stands before the year; may be empty', 'INV-'),
    credit_note_prefix: Front('^[A-Z0-9-]{1,10}$', 'What credit notes have in front of that', 'CN-'),
    digits: Type.Integer({ minimum: 1, maximum: 12, description: 'Digits of the last part, at least' }),
  }),
  defaults: { prefix: '', credit_note_prefix: 'CN-', digits: 6 },
  example: { prefix: 'INV-', credit_note_prefix: 'CN-', digits: 6 },
});
