import { type MailDeclaration, mail } from '../events/index.ts';
import { serviceProvisioned } from './events.ts';

const ready = mail(serviceProvisioned, ({ data }) => ({
  subject: `${data.hostname} is ready`,
  lines: [
    `Your server ${data.hostname} is running.`,
    '',
    `  ssh root@${data.primary_ip}`,
    '',
    'Sign in with the password of your order, or with any SSH key of your account.',
  ],
}));

/** What customers are told of their services. */
export const serviceMails: MailDeclaration[] = [ready];
