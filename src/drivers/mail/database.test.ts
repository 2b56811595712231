import { describeMail } from './conformance.ts';
import { databaseMail } from './index.ts';

describeMail('the database', async () => {
  const mail = databaseMail();
  return { mail, world: null, close: mail.close };
});
