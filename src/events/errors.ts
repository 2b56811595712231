import { errors } from '../platform/index.ts';

const mailErrors = errors({
  mail_under_way: [409, 'This mail is being sent; look at it again in a while'],
  mail_server_missing: [409, 'No mail server is configured, so mails stay here (SMTP_URL)'],
});
type MailErrors = typeof mailErrors;
declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends MailErrors {}
}
