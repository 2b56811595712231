import { Type } from 'typebox';
import { Choice, CountryCode, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';

const Text = (maxLength: number, description?: string, examples?: string[]) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '\\S',
    'x-message': 'must not be blank',
    ...(description && { description }),
    ...(examples && { examples }),
  });

const Country = (description: string) => CountryCode({ description, examples: ['DE'] });

const Kind = Choice(['company', 'person']);

const country = Country('ISO 3166-1; decides the tax on invoices');
const texts = {
  address_line1: Text(200, undefined, ['Lindenweg 7']),
  address_line2: Text(200),
  postal_code: Text(20, undefined, ['10115']),
  city: Text(100, undefined, ['Berlin']),
  region: Text(100, 'State or province, where addresses have one'),
  declared_country: Country(
    'Where a consumer says to live, as evidence for the tax. It must be the country of the address',
  ),
  tax_id: Text(
    40,
    'Within the European Union the VAT id with its country in front; elsewhere what the tax office calls you by. ' +
      'Consumers have none',
    ['DE136695976'],
  ),
  language: Type.String({
    pattern: '^[a-z]{2}$',
    'x-message': 'must be a language in two small letters, such as de',
    description:
      'ISO 639-1, for the documents of invoices: `de` or `en`, which stands for all others; null: by the country',
    examples: ['de'],
  }),
  email: Type.String({
    maxLength: 254,
    pattern: '^[^\\s<>@,;]+@[^\\s<>@,;]+$',
    'x-message': 'must be one address, such as billing@example.com',
    description:
      'Where mails about invoices go; null: to whoever ordered, or to the owners once that person has left',
    examples: ['billing@example.com'],
  }),
  routing_id: Text(100, 'What a public buyer is found by, such as a Leitweg-ID', ['04011000-12345-34']),
  order_number: Text(100, 'Your own number of the order, which invoices name', ['PO-2026-17']),
};

type Texts = { [name in keyof typeof texts]: ReturnType<typeof Nullable<(typeof texts)[name]>> };
const nullable = Object.fromEntries(
  Object.entries(texts).map(([name, schema]) => [name, Nullable(schema)]),
) as Texts;

const consumer = Type.Boolean({
  description: 'Whether it buys for no trade of its own. A consumer has no tax id, and a company is none',
});

export const BillingProfile = named(
  'BillingProfile',
  Type.Object({
    kind: Kind,
    consumer,
    name: Type.String({
      description: "Who invoices are made out to; until it is told, the organization's name",
    }),
    country: Nullable(country),
    ...nullable,
    updated_at: Nullable(Timestamp),
  }),
  'Who the invoices of an organization are made out to',
);

export const BillingProfileData = named('BillingProfileAnswer', Type.Object({ profile: BillingProfile }));

type Optional = { [name in keyof Texts]: ReturnType<typeof Type.Optional<Texts[name]>> };

export const BillingProfileChange = named(
  'BillingProfileChange',
  Strict({
    kind: Type.Optional(Kind),
    consumer: Type.Optional(consumer),
    name: Type.Optional(Nullable(Text(200, "Null: the organization's name", ['Novak Labs s.r.o.']))),
    // Nobody unsays where they are: it decides the tax.
    country: Type.Optional(country),
    ...(Object.fromEntries(
      Object.entries(nullable).map(([name, schema]) => [name, Type.Optional(schema)]),
    ) as Optional),
  }),
);
