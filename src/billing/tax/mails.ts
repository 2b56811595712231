import { type MailDeclaration, mail } from '../../events/index.ts';
import { taxIdChecked } from '../events.ts';

const notValid = mail(
  taxIdChecked,
  ({ data }) => ({
    subject: `The VAT id ${data.tax_id} is not valid`,
    lines: [
      `We looked up the VAT id ${data.tax_id} of your billing profile, and it is not valid. Until it is, your`,
      'invoices carry tax.',
      '',
      'If it was given to you a short while ago, the register may not know it yet: we ask again every day. Otherwise',
      'look at it in your billing profile, and send it once more.',
    ],
  }),
  { isBill: true, when: ({ state }) => state === 'invalid' },
);

/** What customers are told of their tax. */
export const taxMails: MailDeclaration[] = [notValid];
