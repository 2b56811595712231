import { event } from './event.ts';

interface MailSentAgain {
  /** The event that the mail tells of. */
  event: string;
  sendings: number;
}

export const mailSentAgain = event<MailSentAgain>('mail.sent_again', 'staff had a mail sent once more');
