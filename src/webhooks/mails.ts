import { type MailDeclaration, mail } from '../events/index.ts';
import { webhookPaused } from './events.ts';

const paused = mail(webhookPaused, ({ data }) => ({
  subject: 'Your webhooks are paused',
  lines: [
    `Nothing that we sent to ${data.url} was taken since ${data.failing_since}, so we have stopped trying.`,
    `What came back last: ${data.reason}`,
    '',
    'What happens meanwhile is kept. Once the address takes webhooks again, set its status to "enabled", and all of it is sent.',
  ],
}));

export const webhookMails: MailDeclaration[] = [paused];
