import { type MailDeclaration, mail } from '../../events/index.ts';
import { taxIdChecked } from '../events.ts';
import { say } from '../texts/index.ts';

const notValid = mail(
  taxIdChecked,
  ({ data: { tax_id: taxId } }, reader) => ({
    subject: say(reader, 'taxId.subject', { taxId }),
    blocks: [say(reader, 'taxId.what', { taxId }), say(reader, 'taxId.next')],
  }),
  {
    isBill: true,
    when: ({ state }) => state === 'invalid',
    leadsTo: (_, reader) => ({ button: say(reader, 'shared.seeProfile'), page: '/billing/profile' }),
  },
);

/** What customers are told of their tax. */
export const taxMails: MailDeclaration[] = [notValid];
