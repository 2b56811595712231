import { Type } from 'typebox';
import { Choice, Day, Id, meaning, Nullable, named, Strict } from '../../platform/http/index.ts';
import { CurrencyAsked, StaffInvoice } from '../schema.ts';

const Amount = (description: string, example: string) =>
  Type.String({ maxLength: 20, description, examples: [example] });

const Reason = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Shown to the customer, and on a credit note',
});

const NewLine = named(
  'NewStaffInvoiceLine',
  Strict({
    description: Type.String({ minLength: 1, maxLength: 500, examples: ['Moving your website'] }),
    quantity: Type.Optional(
      Amount('How much of it, with at most three digits after the point; default: `1`', '2.5'),
    ),
    unit_price: Amount(
      'What one costs, before tax or with the tax inside, as the provider has its prices',
      '80.00',
    ),
    service_id: Type.Optional(meaning("What it is for: a service of the organization's", Id)),
  }),
);

export const NewInvoice = named(
  'NewStaffInvoice',
  Strict({
    organization_id: Id,
    currency: CurrencyAsked,
    lines: Type.Array(NewLine, { minItems: 1, maxItems: 100 }),
    duedate: Type.Optional({ ...Day, description: 'Default: as for what customers order' }),
    note: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: 'Stands on the document, for the customer' }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Says what the invoice would be, and issues nothing' }),
    ),
  }),
);

const NewStaffInvoice = named(
  'NewStaffInvoiceAnswer',
  Type.Object({
    ...StaffInvoice.properties,
    id: Nullable(meaning('Null when nothing was issued', Id)),
    payment_reference: Nullable(StaffInvoice.properties.payment_reference),
  }),
);

export const IssuedInvoice = named(
  'IssuedStaffInvoice',
  Type.Object({
    dry_run: Type.Boolean(),
    invoice: NewStaffInvoice,
  }),
);

export const Cancellation = named('InvoiceCancellation', Strict({ reason: Reason }));

const CorrectedLine = named(
  'InvoiceCorrectionLine',
  Strict({
    line: Type.Integer({ minimum: 1, maximum: 1000, description: 'Which line of the invoice: 1, 2, 3 …' }),
    amount: Type.Optional(
      Amount('What of it is taken back, in the terms of the line; default: all that is left of it', '12.50'),
    ),
  }),
);

export const Correction = named(
  'InvoiceCorrection',
  Strict({
    lines: Type.Optional(
      Type.Array(CorrectedLine, {
        minItems: 1,
        maxItems: 100,
        description: 'What was wrong; default: all that is left of the invoice',
      }),
    ),
    reason: Reason,
    method: Choice(['credit', 'original'], {
      description:
        'Where goes what had been paid of it: to the account credit, or to the card or account that it came from by the ' +
        'payment provider. What came otherwise becomes credit then too',
    }),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Says what the credit note would be, and issues nothing' }),
    ),
  }),
);

export const Corrected = named(
  'InvoiceCorrectionAnswer',
  Type.Object({ dry_run: Type.Boolean(), invoice: StaffInvoice, credit_note: NewStaffInvoice }),
);
