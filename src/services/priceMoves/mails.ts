import { type MailDeclaration, mail } from '../../events/index.ts';
import { dayFor, moneyFor } from '../../platform/index.ts';
import { priceChangeAnnounced, priceChangeRevoked } from '../events.ts';
import { say } from '../texts/index.ts';
import { nameOf, periodFor, toService } from '../texts/named.ts';

const announced = mail(
  priceChangeAnnounced,
  ({ data }, reader) => {
    const name = nameOf(data);
    const day = dayFor(reader, data.from);
    const period = periodFor(reader, data.cycle);
    const price = moneyFor(reader, data.price, data.currency);
    return {
      subject: say(reader, 'priceAnnounced.subject', { name, price, day }),
      blocks: [
        say(reader, 'priceAnnounced.what', { name, day }),
        {
          table: [
            [
              say(reader, 'priceAnnounced.before', { period }),
              moneyFor(reader, data.price_before, data.currency),
            ],
            [say(reader, 'priceAnnounced.after', { period }), price],
          ],
        },
        say(reader, 'priceAnnounced.tax'),
        say(reader, 'priceAnnounced.choice', { day }),
      ],
    };
  },
  { isBill: true, leadsTo: toService },
);

const revoked = mail(
  priceChangeRevoked,
  ({ data }, reader) => {
    const name = nameOf(data);
    const price = moneyFor(reader, data.price, data.currency);
    return {
      subject: say(reader, 'priceKept.subject', { name }),
      blocks: [say(reader, 'priceKept.what', { name, price }), say(reader, 'priceKept.next')],
    };
  },
  { isBill: true, leadsTo: toService },
);

/** What customers are told of the prices of what they have. */
export const priceMoveMails: MailDeclaration[] = [announced, revoked];
