import { event } from './event.ts';

export const mailSentAgain = event('mail.sent_again', 'staff had a mail sent once more');
