import { Type } from 'typebox';
import {
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';

const Method = named(
  'PaymentMethod',
  Type.Object({
    id: Id,
    type: Type.String({ description: 'What the payment provider offers', examples: ['card', 'sepa_debit'] }),
    brand: Nullable(Type.String({ examples: ['visa'] })),
    last4: Nullable(Type.String({ description: 'The last four digits', examples: ['4242'] })),
    expires_month: Nullable(Type.Integer()),
    expires_year: Nullable(Type.Integer()),
    is_default: Type.Boolean({ description: 'Renewals are charged to it' }),
    created_at: Timestamp,
  }),
  'A way to pay that the payment provider keeps for the organization',
);

export const MethodData = named('PaymentMethodAnswer', Type.Object({ payment_method: Method }));
export const MethodList = named('PaymentMethodList', listOf('payment_methods', Method));
export const MethodQuery = ListQuery({ sort: SortBy(['created_at'], 'created_at') });

export const AddMethodData = named(
  'PaymentMethodPage',
  Type.Object({
    redirect_url: Type.String({ description: 'Where to send the customer, who saves the method there' }),
    expires_at: Timestamp,
  }),
);

export const ChangeMethod = named(
  'PaymentMethodChange',
  Strict({
    is_default: Type.Optional(
      Type.Boolean({
        description: 'Renewals are charged to it; false: to none, and invoices are paid by hand',
      }),
    ),
  }),
);

export const Deleted = Type.Object({ deleted: Type.Boolean() });
