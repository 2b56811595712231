import { type MailDeclaration, mail } from '../../events/index.ts';
import { priceChangeAnnounced, priceChangeRevoked } from '../events.ts';

interface Named {
  product: string;
  hostname: string | null;
}

const nameOf = ({ product, hostname }: Named) => hostname ?? product;

const periods: Record<string, string> = {
  monthly: 'a month',
  quarterly: 'a quarter',
  semiannually: 'half a year',
  annually: 'a year',
  biennially: 'two years',
  triennially: 'three years',
};

const announced = mail(
  priceChangeAnnounced,
  ({ subject, data }) => ({
    subject: `${nameOf(data)} costs ${data.price} ${data.currency} from ${data.from} on`,
    lines: [
      `The price of ${nameOf(data)} changes with its renewal on ${data.from}:`,
      '',
      `  until then:  ${data.price_before} ${data.currency} for ${periods[data.cycle] ?? data.cycle}`,
      `  afterwards:  ${data.price} ${data.currency} for ${periods[data.cycle] ?? data.cycle}`,
      '',
      'Both are before tax. What you have paid for, and an invoice that is open, keep their price.',
      '',
      `If you agree there is nothing for you to do. If not, cancel it before ${data.from} to the end of its period: among your`,
      `services, or with POST /api/dashboard/services/${subject.id}/cancel. It then costs you nothing more.`,
    ],
  }),
  { isBill: true },
);

const revoked = mail(
  priceChangeRevoked,
  ({ data }) => ({
    subject: `${nameOf(data)} keeps its price`,
    lines: [
      `We told you of a new price of ${nameOf(data)}. That is off: it costs ${data.price} ${data.currency} as before.`,
      'An invoice that asked for the new price is cancelled.',
    ],
  }),
  { isBill: true },
);

/** What customers are told of the prices of what they have. */
export const priceMoveMails: MailDeclaration[] = [announced, revoked];
