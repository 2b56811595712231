import { Type } from 'typebox';
import {
  Choice,
  Day,
  Id,
  MoneyText,
  meaning,
  Nullable,
  named,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { grounds } from './refund.ts';

export const Cancel = named(
  'ServiceCancellation',
  Strict({
    type: Choice(['immediate', 'end_of_period'], {
      description:
        '`immediate` ends it now, with all that is on it; `end_of_period` when the time that is paid for ends',
    }),
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'Why, for the provider' })),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Says what would happen and be given back, and changes nothing' }),
    ),
  }),
);

const Refund = named(
  'CancellationRefund',
  Type.Object({
    because: Choice(grounds, { description: 'Why something is given back, or `none`' }),
    total: meaning('What is given back in all, with its tax', MoneyText),
    currency: Type.String(),
    method: Choice(['credit', 'original'], {
      description:
        'Where it goes: to the account credit, or to where it came from; what came otherwise becomes credit then too',
    }),
    original: meaning('What of it goes to where it came from', MoneyText),
    invoices: Type.Array(
      named(
        'RefundOfInvoice',
        Type.Object({
          invoice_id: Id,
          amount: MoneyText,
          original: meaning('What of it goes to where it came from', MoneyText),
        }),
        'What is given back of one invoice',
      ),
    ),
  }),
  'What is given back of what was paid for a service',
);

const ended = {
  cancelled: Type.Boolean(),
  effective_at: Nullable(
    meaning('When the service ends, or has ended; null while it is not cancelled', Timestamp),
  ),
  refund: Refund,
};

export const Cancelled = named('ServiceCancellationAnswer', Type.Object(ended));

export const CancellationOptions = named(
  'ServiceCancellationOptions',
  Type.Object({
    ...ended,
    reason: Nullable(
      meaning('Why it is not to be cancelled at the moment, such as a protected machine', Type.String()),
    ),
    withdrawal_until: Nullable(
      meaning('The last day on which the order can be withdrawn from; null without that right', Day),
    ),
    immediate: Nullable(
      named('CancellationNow', Type.Object({ refund: Refund }), 'What cancelling at once would give back'),
    ),
    end_of_period: Nullable(
      named(
        'CancellationLater',
        Type.Object({ effective_at: Timestamp }),
        'When a cancellation at the end of the period would come true; null when there is none to wait for: its time is over, and it is paid first or cancelled at once',
      ),
    ),
  }),
  'Whether a service ends, and what cancelling it would mean',
);
