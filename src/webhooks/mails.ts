import { type MailDeclaration, mail } from '../events/index.ts';
import { momentFor } from '../platform/index.ts';
import { webhookPaused } from './events.ts';
import { say } from './texts/index.ts';

const paused = mail(
  webhookPaused,
  ({ data: { url, failing_since, reason } }, reader) => ({
    subject: say(reader, 'paused.subject'),
    blocks: [
      say(reader, 'paused.what', { url, since: momentFor(reader, failing_since) }),
      say(reader, 'paused.last', { reason }),
      say(reader, 'paused.next'),
    ],
  }),
  // Whoever made it may have left.
  {
    permission: 'webhook.manage',
    leadsTo: ({ subject: { id } }, reader) => ({
      button: say(reader, 'paused.button'),
      page: `/developers/webhooks/${id}`,
    }),
  },
);

/** What customers are told of their webhooks. */
export const webhookMails: MailDeclaration[] = [paused];
