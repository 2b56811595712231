import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, forgetSecretKey, statement } from '../platform/index.ts';
import { type Command, UsageError } from './command.ts';
import { withDatabase } from './withDatabase.ts';

// Whatever of ours is connected besides this command; one that was just stopped may show for a moment.
const connected = statement<{ name: string }>(
  'commands.connected',
  `select distinct application_name as name from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid() and application_name like 'innkeeper%'`,
);
const patience = 10;

async function requireStopped({ db }: Pick<Context, 'db'>): Promise<void> {
  for (let left = patience; ; left -= 1) {
    const others = await db.many(connected);
    if (others.length === 0) return;
    if (left > 0) await sleep(200);
    else
      throw new UsageError(
        `The product is running (${others.map(({ name }) => name).join(', ')}). Stop it first: it would go on with the ` +
          'key that is forgotten, and what it seals until its next start would stay closed.',
      );
  }
}

export const forgetKey: Command = {
  usage: 'forget-key',
  does: 'after the secret key was lost for good, while the product is stopped: the next start makes a new one',
  options: {},
  run: (config) =>
    withDatabase(config, async ({ db }) => {
      await requireStopped({ db });
      await forgetSecretKey(db);
      return (
        'The next start takes the key that it finds, or makes one. What was sealed with the lost key stays closed: ' +
        'retry or refund orders whose machines were not delivered yet.'
      );
    }),
};
