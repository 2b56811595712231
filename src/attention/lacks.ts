import { isThisHost } from '../config.ts';
import { type Context, isBackedUp, type Lack, type LackSource } from '../platform/index.ts';

const onHost = { mendedAt: null };

/** What the settings of the process lack, and what its host was never asked for. */
export const processLacks: LackSource = {
  codes: ['public_url', 'mail.none', 'mail.sender', 'backup.none'],
  find: async (ctx) => [...inSettings(ctx), ...(await noBackup(ctx))],
};

function inSettings({ config: { publicUrl, mail, mailLacks } }: Context): Lack[] {
  const lacks: Lack[] = [];
  if (isThisHost(new URL(publicUrl).hostname))
    lacks.push({
      code: 'public_url',
      message: `Customers cannot reach ${publicUrl}, where mails lead and pages of payments lead back to: set PUBLIC_URL`,
      ...onHost,
    });
  if (mail === 'database')
    lacks.push({
      code: 'mail.none',
      message:
        'Mails go to nobody and are only kept here, so no customer can register: set SMTP_URL and MAIL_FROM, then try them ' +
        'with "innkeeper send-test-mail"',
      ...onHost,
    });
  if (mailLacks.length > 0)
    lacks.push({
      code: 'mail.sender',
      message: `Mails are from nobody or lead to this host alone: set ${mailLacks.join(' and ')}`,
      ...onHost,
    });
  return lacks;
}

async function noBackup(ctx: Context): Promise<Lack[]> {
  if (await isBackedUp(ctx.db)) return [];
  const message =
    'No backup was ever made: call "innkeeper backup" and have innkeeper-backup.timer make one every night';
  return [{ code: 'backup.none', message, ...onHost }];
}
