import { forgetSecretKey } from '../platform/index.ts';
import type { Command } from './command.ts';
import { withDatabase } from './withDatabase.ts';

export const forgetKey: Command = {
  usage: 'forget-key',
  does: 'after the secret key was lost for good: the next start makes a new one',
  options: {},
  run: (config) =>
    withDatabase(config, async ({ db }) => {
      await forgetSecretKey(db);
      return (
        'The next start takes the key that it finds, or makes one. What was sealed with the lost key stays closed: ' +
        'retry or refund orders whose machines were not delivered yet.'
      );
    }),
};
