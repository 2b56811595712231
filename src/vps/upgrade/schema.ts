import { Type } from 'typebox';
import { ChosenOptions, optionMeanings } from '../../catalog/index.ts';
import { Choice, Id, MoneyText, Nullable, named, Strict } from '../../platform/http/index.ts';
import { Action } from '../schema.ts';

const amount = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description }));

export const UpgradeVps = named(
  'VpsUpgrade',
  Strict({
    option1: amount(optionMeanings.option1),
    option2: amount(optionMeanings.option2),
    option3: amount(optionMeanings.option3),
    option4: amount(optionMeanings.option4),
    option5: amount(optionMeanings.option5),
    option7: Type.Optional(
      Type.String({ maxLength: 40, description: optionMeanings.option7, examples: ['5gbit'] }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Says what it would cost, and reserves nothing' })),
  }),
);

export const UpgradeTerms = named(
  'VpsUpgradeTerms',
  Type.Object({
    invoice_id: Nullable(Id),
    prorated_charge: Type.String({
      ...MoneyText,
      description: 'Due now, before tax: the difference in price for the days that remain, rounded down',
    }),
    credit: Type.String({
      ...MoneyText,
      description: 'What was paid already for the days that remain; prorated_charge is less by it',
    }),
    new_price: Type.String({ ...MoneyText, description: 'Of each period from now on' }),
    total: Type.String({ ...MoneyText, description: 'prorated_charge with tax: what the invoice asks for' }),
    currency: Type.String(),
    effective: Choice(['now', 'on_payment']),
    options: ChosenOptions,
    action: Nullable(Action),
  }),
  'What the change costs and when it takes effect',
);
