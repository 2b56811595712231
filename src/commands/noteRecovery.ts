import { noteRecovery } from '../backup/index.ts';
import { borrowServer } from '../database.ts';
import { systemClock } from '../platform/index.ts';
import { type Command, UsageError } from './command.ts';
import { oldDoors } from './oldDoors.ts';
import { withInstallation } from './place.ts';

export const noteRecoveryCommand: Command = {
  usage: 'note-recovery --as-of TIME | --nothing-lost',
  does: 'after point-in-time recovery, a failover or a copy of the database: what was done since TIME is not taken for granted',
  options: { 'as-of': { type: 'string' }, 'nothing-lost': { type: 'boolean' } },
  run: (config, options) => {
    const now = systemClock.now();
    const asOf = momentOf(options, now);
    return withInstallation(config, async (place) => {
      const database = await borrowServer(config, place.data, place.quiet, place.log);
      await noteRecovery(database.ownerUrl, asOf, now).finally(() => database.close());
      if (asOf === null)
        return 'Noted: the database is where it belongs, and nothing is missing. Jobs go on.';
      return [
        `Noted: the database is as it was at ${asOf.toISOString()}.`,
        'Start the product, then look at GET /api/staff/attention: what was under way with machines is held there, and nothing is',
        'ended or charged by itself until staff releases it.',
        ...oldDoors,
      ].join('\n');
    });
  },
};

/** Null: nothing is missing. */
function momentOf(options: Record<string, string | boolean | undefined>, now: Date): Date | null {
  const { 'as-of': text, 'nothing-lost': nothingLost = false } = options;
  if ((text !== undefined) === nothingLost)
    throw new UsageError('Say --as-of TIME, the moment that the database came back to, or --nothing-lost.');
  if (typeof text !== 'string') return null;
  const asOf = new Date(text);
  if (Number.isNaN(asOf.getTime()) || asOf > now)
    throw new UsageError('--as-of takes a moment that is over, such as 2026-11-23T14:00:00Z');
  return asOf;
}
