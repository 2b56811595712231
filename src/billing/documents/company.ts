import { Type } from 'typebox';
import { CountryCode, Nullable, Strict } from '../../platform/http/index.ts';
import { wrongWithCountry } from '../../platform/index.ts';
import { settings } from '../../settings/index.ts';
import { isIban } from './iban.ts';

const Line = (description: string, example: string) =>
  Type.String({ maxLength: 200, description, examples: [example] });

/** Who sells: what stands on each invoice, and how customers reach the company. */
export const company = settings({
  name: 'company',
  about: 'Who sells, as it stands on invoices',
  shape: Strict({
    name: Line('Name of the company, with its legal form', 'Example Hosting B.V.'),
    address_line1: Nullable(Line('Street and house', '1 Harbour Street')),
    address_line2: Nullable(Line('What else the address needs', 'Building C')),
    postal_code: Nullable(Line('Postal code', '1011 AB')),
    city: Nullable(Line('City', 'Amsterdam')),
    country: Nullable(CountryCode({ description: 'Where the company is taxed', examples: ['NL'] })),
    contact: Nullable(Line('Who answers what customers ask about invoices', 'Billing')),
    email: Nullable(
      Type.String({ format: 'email', maxLength: 254, description: 'Where customers write to' }),
    ),
    phone: Nullable(Line('Where they call', '+31 20 1234567')),
    website: Nullable(Line('Website', 'hosting.example')),
    register: Nullable(Line('Register and number of the company', 'KVK 12345678')),
    tax_id: Nullable(Line('Number under which the tax office knows the company', '123.456.789')),
    vat_id: Nullable(Line('VAT id, with the country in front', 'NL123456789B01')),
    bank: Nullable(Line('Name of the bank', 'Example Bank')),
    iban: Nullable(
      Type.String({
        pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$',
        'x-message':
          'must be an IBAN in capital letters and digits without spaces, such as NL91ABNA0417164300',
        description:
          'Account that customers transfer to; with it invoices in euros have a code for banking apps',
        examples: ['NL91ABNA0417164300'],
      }),
    ),
    bic: Nullable(
      Type.String({
        pattern: '^[A-Z0-9]{8}([A-Z0-9]{3})?$',
        'x-message': 'must be a BIC of 8 or 11 capital letters and digits, such as ABNANL2A',
        description: 'BIC of the bank',
        examples: ['ABNANL2A'],
      }),
    ),
    colour: Nullable(
      Type.String({
        pattern: '^#[0-9a-fA-F]{6}$',
        'x-message': 'must be a colour such as #1b4965',
        description: 'Colour of the name and the heading on documents',
        examples: ['#1b4965'],
      }),
    ),
  }),
  defaults: {
    name: '',
    address_line1: null,
    address_line2: null,
    postal_code: null,
    city: null,
    country: null,
    contact: null,
    email: null,
    phone: null,
    website: null,
    register: null,
    tax_id: null,
    vat_id: null,
    bank: null,
    iban: null,
    bic: null,
    colour: null,
  },
  example: {
    name: 'Example Hosting B.V.',
    address_line1: '1 Harbour Street',
    address_line2: null,
    postal_code: '1011 AB',
    city: 'Amsterdam',
    country: 'NL',
    contact: 'Billing',
    email: 'billing@example.com',
    phone: '+31 20 1234567',
    website: 'hosting.example',
    register: 'KVK 12345678',
    tax_id: null,
    vat_id: 'NL123456789B01',
    bank: 'Example Bank',
    iban: 'NL91ABNA0417164300',
    bic: 'ABNANL2A',
    colour: '#1b4965',
  },
  check: ({ iban, country }) => {
    const problem = country === null ? null : wrongWithCountry(country);
    if (problem !== null) return { field: 'country', message: problem };
    if (iban === null || isIban(iban)) return null;
    return { field: 'iban', message: 'has wrong check digits; look at it again' };
  },
});
