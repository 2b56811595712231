import { type MailDeclaration, mail } from '../events/index.ts';
import { serviceProvisioned } from './events.ts';

const ready = mail(serviceProvisioned, ({ data: { product, hostname, primary_ip: address } }) => ({
  subject: `${hostname ?? product} is ready`,
  lines:
    address === null
      ? [`What you ordered is ready: ${hostname === null ? product : `${product}, ${hostname}`}.`]
      : [
          `Your server ${hostname} is running.`,
          '',
          `  ssh root@${address}`,
          '',
          'Sign in with the password of your order, or with any SSH key of your account.',
        ],
}));

/** What customers are told of their services. */
export const serviceMails: MailDeclaration[] = [ready];
