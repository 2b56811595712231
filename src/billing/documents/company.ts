import { Type } from 'typebox';
import { Nullable, Strict } from '../../platform/http/index.ts';
import { settings } from '../../settings/index.ts';

const Line = (description: string, example: string) =>
  Type.String({ maxLength: 200, description, examples: [example] });

/** Who sells: what stands on each invoice, and how customers reach the company. */
export const company = settings({
  name: 'company',
  about: 'Who sells, as it stands on invoices',
  shape: Strict({
    name: Line('Name of the company, with its legal form', 'Example Hosting B.V.'),
    address: Type.Array(Line('A line of the address', '1 Harbour Street'), {
      maxItems: 6,
      description: 'Street, postal code and city, line by line, without the country',
    }),
    country: Nullable(
      Type.String({
        pattern: '^[A-Z]{2}$',
        'x-message': 'must be a country in two capital letters, such as NL',
        description: 'Where the company is taxed',
        examples: ['NL'],
      }),
    ),
    email: Nullable(
      Type.String({ format: 'email', maxLength: 254, description: 'Where customers write to' }),
    ),
    tax_id: Nullable(Line('Number under which the tax office knows the company', '123.456.789')),
    vat_id: Nullable(Line('VAT id, with the country in front', 'NL123456789B01')),
  }),
  defaults: { name: '', address: [], country: null, email: null, tax_id: null, vat_id: null },
  example: {
    name: 'Example Hosting B.V.',
    address: ['1 Harbour Street', '1011 AB Amsterdam'],
    country: 'NL',
    email: 'billing@example.com',
    tax_id: null,
    vat_id: 'NL123456789B01',
  },
});
