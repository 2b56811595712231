import { Type } from 'typebox';
import { Choice, Id, MoneyText, Nullable, Strict, Timestamp } from '../platform/http/index.ts';

const Amount = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }));

export const UpgradeVps = Strict({
  option1: Amount,
  option2: Amount,
  option3: Amount,
  option4: Amount,
  option5: Amount,
  option7: Type.Optional(Type.String({ maxLength: 40, examples: ['5gbit'] })),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Says what it would cost; nothing is written or held' }),
  ),
});

/** The action as the VPS manager's history will show it. */
const Action = Type.Object({
  id: Id,
  command: Type.String(),
  status: Choice(['queued']),
  progress: Type.Integer(),
  created_at: Timestamp,
  started_at: Type.Null(),
  finished_at: Type.Null(),
  error: Type.Null(),
  initiator: Type.Object({
    type: Choice(['user', 'staff', 'system', 'api_key']),
    id: Nullable(Id),
    ip: Nullable(Type.String()),
  }),
});

export const UpgradeTerms = Type.Object({
  invoice_id: Nullable(Id),
  prorated_charge: Type.String({
    ...MoneyText,
    description: 'Due now, before tax: the difference in price for the days that remain, rounded down',
  }),
  credit: Type.String({
    ...MoneyText,
    description: 'What the days that remain were paid for already; it is off prorated_charge',
  }),
  new_price: Type.String({ ...MoneyText, description: 'Of each period from now on' }),
  total: Type.String({ ...MoneyText, description: 'prorated_charge with tax: what the invoice asks for' }),
  currency: Type.String(),
  effective: Choice(['now', 'on_payment']),
  options: Type.Record(Type.String(), Type.Unknown()),
  action: Nullable(Action),
});
