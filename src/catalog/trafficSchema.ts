import { Type } from 'typebox';
import { Choice, MoneyText, meaning, Nullable, named, Strict } from '../platform/http/index.ts';

const Billing = named(
  'TrafficBilling',
  Choice(['total', 'percentile95']),
  'By all that is sent and received in a calendar month, in TB (million millions of bytes); or by the 95th percentile of its intervals of five minutes, in Mbit/s',
);
const Direction = named(
  'TrafficDirection',
  Choice(['greater', 'in', 'out']),
  'Whose 95th percentile counts: that of what the server receives, of what it sends, or the greater of both',
);
const Included = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'TB or Mbit/s that a month includes, by `billing`',
});

export const TrafficTerms = named(
  'TrafficTerms',
  Type.Object({
    billing: Billing,
    included: Included,
    price: meaning('Of a month of each TB or Mbit/s more; with or without tax, as all prices are', MoneyText),
    currency: Type.String(),
    direction: Nullable(Direction),
  }),
  'How the traffic of a server is billed beyond what its price includes',
);

export const TrafficChange = named(
  'NewTrafficTerms',
  Strict({
    billing: Billing,
    included: Included,
    price: meaning(
      'Of a month of each TB or Mbit/s more',
      Type.String({ maxLength: 20, examples: ['1.50'] }),
    ),
    direction: Type.Optional(meaning('Of `percentile95` alone; default: greater', Direction)),
  }),
  'How the traffic of a server is to be billed; services that are there keep what they were sold with',
);
