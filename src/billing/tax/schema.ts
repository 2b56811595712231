import { Type } from 'typebox';
import {
  Choice,
  CountryCode,
  Day,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';

const Country = CountryCode({ examples: ['DE'] });

const Percent = Type.String({ description: 'Per cent', examples: ['21.00'] });

const FromDay = Type.Unsafe<string>({
  type: 'string',
  format: 'date',
  pattern: '^2',
  'x-message': 'must be a day from 2000-01-01 on, such as 2026-01-31',
  examples: ['2026-01-31'],
});

export const TaxRate = named(
  'TaxRate',
  Type.Object({
    id: Id,
    country: Country,
    rate: Percent,
    valid_from: Day,
    valid_until: Nullable(
      Type.String({ format: 'date', description: 'The last day; null: until further notice' }),
    ),
  }),
  "A country's rate of tax, and the days of supply on which it counts",
);

export const TaxRateQuery = ListQuery({
  country: Type.Optional(Country),
  sort: SortBy(['country', 'valid_from'], 'country'),
});
export const TaxRateList = named('TaxRateList', listOf('rates', TaxRate));
export const TaxRateData = named('TaxRateAnswer', Type.Object({ rate: TaxRate }));

export const NewTaxRate = named(
  'NewTaxRate',
  Strict({
    country: Country,
    rate: Type.String({
      maxLength: 6,
      description: 'Per cent, with two digits at most',
      examples: ['21.00'],
    }),
    valid_from: FromDay,
  }),
);

export const TaxRateEnd = named('TaxRateEnd', Strict({ valid_until: FromDay }));

export const Treatment = named(
  'TaxTreatment',
  Choice(['taxed', 'reverse_charge', 'exempt', 'outside']),
  '`taxed` by the rate of a country; `reverse_charge`: the buyer owes the tax; `exempt` for a reason that is told; ' +
    '`outside`: the provider owes no tax there',
);

export const TaxIdState = named(
  'TaxIdState',
  Choice(['valid', 'invalid', 'unknown']),
  '`unknown` until the register has answered',
);

const TaxIdStanding = named(
  'TaxIdStanding',
  Type.Object({
    tax_id: Type.String(),
    state: TaxIdState,
    checked_at: Nullable(Timestamp),
    checked_by: Nullable(Choice(['register', 'staff'])),
    consultation_number: Nullable(Type.String()),
    registered_name: Nullable(Type.String()),
    registered_address: Nullable(Type.String()),
    unknown_since: Nullable(Timestamp),
    tries: Type.Integer({ description: 'How often the register could not tell' }),
    failure: Nullable(Type.String({ description: 'Why it could not tell last' })),
    next_ask_at: Nullable(Timestamp),
  }),
  'What is known of a VAT id',
);

const TaxStanding = named(
  'TaxStanding',
  Type.Object({
    treatment: Treatment,
    country: Nullable(Country),
    rate: Percent,
    consumer: Type.Boolean(),
    exempt_reason: Nullable(Type.String()),
    tax_id: Nullable(TaxIdStanding),
  }),
  "What an organization's next invoice carries, and why",
);

export const TaxStandingData = named('TaxStandingAnswer', Type.Object({ tax: TaxStanding }));

export const TaxStandingChange = named(
  'TaxStandingChange',
  Strict({
    exempt_reason: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 200,
          pattern: '\\S',
          'x-message': 'must not be blank',
          description: 'Why it pays no tax, as its invoices say it; null: it pays',
          examples: ['Diplomatic mission, Art. 151 of Directive 2006/112/EC'],
        }),
      ),
    ),
    tax_id_state: Type.Optional(
      Choice(['valid', 'invalid', 'unknown'], {
        description: 'What staff found out by hand; `unknown` has the register asked once more',
      }),
    ),
    consultation_number: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'The proof of what staff found out' }),
    ),
  }),
);

const TaxProof = named(
  'TaxProof',
  Type.Object({
    tax_id: Type.String(),
    state: TaxIdState,
    checked_at: Nullable(Timestamp),
    consultation_number: Nullable(Type.String()),
  }),
  'What was known of the VAT id, for the tax office',
);

/** What staff sees of how the tax of an invoice came about. */
export const InvoiceTaxFacts = {
  tax_consumer: Type.Boolean({ description: 'Whether a consumer bought' }),
  tax_proof: Nullable(TaxProof),
  tax_awaits: Type.Boolean({
    description: 'Whether the tax hangs on what the register will say of the VAT id',
  }),
  tax_evidence: Type.Array(
    named(
      'TaxEvidence',
      Type.Object({
        kind: Choice(['address', 'declaration', 'ip', 'bank', 'card']),
        country: Country,
        noted_at: Timestamp,
      }),
      'A piece that shows where a consumer is',
    ),
  ),
};

const Signed = Type.String({
  pattern: '^-?\\d+(\\.\\d+)?$',
  'x-message': 'must be an amount',
  examples: ['12.50'],
});

export const TaxReportQuery = Strict({
  quarter: Type.String({
    pattern: '^2[0-9]{3}-Q[1-4]$',
    'x-message': 'must be a quarter such as 2026-Q4',
    examples: ['2026-Q4'],
  }),
});

export const TaxReport = named(
  'TaxReport',
  Type.Object({
    quarter: Type.String(),
    from: Day,
    until: Day,
    rows: Type.Array(
      named(
        'TaxReportRow',
        Type.Object({
          country: Nullable(Country),
          treatment: Treatment,
          rate: Percent,
          consumer: Type.Boolean(),
          one_stop_shop: Type.Boolean({
            description: "Declared in the company's country for another one of the union",
          }),
          currency: Type.String(),
          invoices: Type.Integer({
            description: 'Paid in the quarter, or issued in it where they count from then on',
          }),
          net: Signed,
          tax: Signed,
          returned_net: Signed,
          returned_tax: Signed,
          taxable: Signed,
          tax_due: Signed,
          unproven: Type.Integer({
            description:
              'Invoices of consumers for whom fewer than two pieces of evidence show the country; and those without tax by the country that was named, of whom a card, a bank or a request shows one that is taxed',
          }),
        }),
        'What one kind of buyer in one country paid and got back in a quarter',
      ),
    ),
    totals: Type.Array(
      named(
        'TaxReportTotal',
        Type.Object({ currency: Type.String(), tax_due: Signed, ledger: Signed, difference: Signed }),
        'The tax of all rows in a currency, beside what the ledger has booked on the same days',
      ),
    ),
  }),
);
