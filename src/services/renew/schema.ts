import { Type } from 'typebox';
import { CycleName } from '../../catalog/index.ts';
import { Day, Id, MoneyText, meaning, Nullable, named, Strict, shownAs } from '../../platform/http/index.ts';
import { Service } from '../schema.ts';

export const RenewalOptions = named(
  'RenewalOptions',
  Type.Object({
    service: Service,
    cycles: Type.Array(
      named(
        'RenewalCycle',
        Type.Object({
          cycle: shownAs(CycleName, Type.String()),
          price: meaning('Before tax', MoneyText),
          discount_percent: Type.Integer({
            minimum: 0,
            maximum: 100,
            description: 'How much less a month costs than with the shortest of these cycles',
          }),
          new_duedate: meaning('The due date once it is paid', Day),
          coming_price: Nullable(
            meaning(
              "What it costs from the day of the service's `coming_price` on; null: the same",
              MoneyText,
            ),
          ),
        }),
        'One period more of a service',
      ),
    ),
    auto_renew: Type.Boolean(),
    open_invoice_id: Nullable(meaning('The renewal that waits for its payment', Id)),
  }),
  'For which cycles a service can be renewed',
);

export const Renew = named('ServiceRenewal', Strict({ cycle: CycleName }));

export const Renewed = named('ServiceRenewalAnswer', Type.Object({ invoice_id: Id }));
