import { randomUUID } from 'node:crypto';
import { MailError, smtpMail } from '../drivers/mail/index.ts';
import { type Command, UsageError } from './command.ts';

/** What a founder tries first: whether the mail server of the settings takes mails of ours, without waiting for a customer. */
export const sendTestMail: Command = {
  usage: 'send-test-mail --to sam@example.com',
  does: 'sends a mail by the mail server of the settings and says what that answered; needs no database',
  options: { to: { type: 'string' } },
  async run({ mail: engine, smtpUrl, mailFrom: from, publicUrl }, { to }) {
    if (typeof to !== 'string' || !/^[^\s<>@,]+@[^\s<>@,]+$/.test(to))
      throw new UsageError('--to takes an address such as sam@example.com');
    if (engine !== 'smtp')
      throw new UsageError(
        'Mails are not sent: no mail server is set (SMTP_URL). They stay in the database, where staff reads them.',
      );
    const { host, hostname } = new URL(smtpUrl);
    const mail = smtpMail({ url: smtpUrl });
    try {
      const answer = await mail.send({
        ...{ from, to },
        messageId: `<test.${randomUUID()}@${new URL(publicUrl).hostname}>`,
        subject: `A test mail of ${publicUrl}`,
        text: `This was sent by the command "innkeeper send-test-mail" at ${publicUrl}, by ${hostname}.\n\nMails to customers take the same way.\n`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return (
        `${host} has taken a mail from ${from} to ${to}, and said: ${answer}\n` +
        'Look whether it arrives, and not as spam: the domain of MAIL_FROM has to name that server (SPF), which has to sign (DKIM).'
      );
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      throw new UsageError(`${host} did not take a mail from ${from} to ${to}: ${error.message}`, {
        cause: error,
      });
    } finally {
      await mail.close();
    }
  },
};
