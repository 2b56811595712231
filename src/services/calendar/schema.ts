import { Type } from 'typebox';
import { Choice, Day, Id, MoneyText, meaning, Nullable, named, Strict } from '../../platform/http/index.ts';
import { CalendarChange } from '../settings.ts';
import { serviceStatuses } from '../states.ts';
import { endings, steps } from './schedule.ts';

export const NewPromise = named(
  'NewPaymentPromise',
  Strict({
    until: Nullable(meaning('The last day that it holds; null takes it back', Day)),
    note: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'For staff' })),
  }),
);

export const PromiseData = named(
  'PaymentPromiseAnswer',
  Type.Object({
    promise: Nullable(
      Type.Object({
        organization_id: Id,
        service_id: Nullable(meaning('Null: for all services of the organization', Id)),
        until: Day,
        note: Nullable(Type.String()),
      }),
    ),
  }),
);

export const OwnPromiseData = named(
  'OwnPaymentPromiseAnswer',
  Type.Object({
    promise: Nullable(
      Type.Object({
        service_id: Nullable(meaning('Null: for all services of the organization', Id)),
        until: meaning('The last day that it holds', Day),
      }),
    ),
  }),
);

const Step = named('CalendarStep', Choice([...steps, ...endings]));

export const PreviewQuery = Strict({
  cursor: Type.Optional(Type.String({ maxLength: 60, description: '`next_cursor` of the answer before' })),
});

export const PreviewedChange = named('PreviewedSettings', Strict({ calendar: CalendarChange }));

export const Preview = named(
  'CalendarPreview',
  Type.Object({
    from: Day,
    until: Day,
    counts: Type.Record(Type.String(), Type.Integer(), {
      description: 'How often each step is taken, in this answer',
    }),
    steps: Type.Array(
      Type.Object({
        on: Day,
        step: Step,
        service: Type.Object({
          id: Id,
          product: Type.String(),
          hostname: Nullable(Type.String()),
          status: Choice(serviceStatuses),
          duedate: Day,
          price: meaning(
            'Of a period, before tax, as it is today; with `invoice` of the period that is asked for, by what is coming',
            MoneyText,
          ),
          currency: Type.String(),
        }),
        organization_id: Id,
        invoice_id: Nullable(Id),
        promised_until: Nullable(Day),
        problem: Nullable(Type.String({ description: 'Why it cannot go on; it is tried every day' })),
      }),
    ),
    next_cursor: Nullable(Type.String()),
  }),
);
