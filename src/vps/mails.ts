import { type MailDeclaration, mail } from '../events/index.ts';
import { momentFor } from '../platform/index.ts';
import { vpsRecovered } from './events.ts';
import { say } from './texts/index.ts';

const recovered = mail(
  vpsRecovered,
  ({ data: { hostname: name, backup_at } }, reader) => {
    const at = momentFor(reader, backup_at);
    return {
      subject: say(reader, 'recovered.subject', { name, at }),
      blocks: [
        say(reader, 'recovered.what', { name, at }),
        say(reader, 'recovered.lost'),
        say(reader, 'recovered.same'),
      ],
    };
  },
  {
    leadsTo: ({ subject: { id }, data: { hostname: name } }, reader) => ({
      button: say(reader, 'recovered.look', { name }),
      page: `/services/${id}`,
    }),
  },
);

/** What customers are told of their machines. */
export const vpsMails: MailDeclaration[] = [recovered];
