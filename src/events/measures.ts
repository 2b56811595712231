import { type MeasureSource, statement } from '../platform/index.ts';

interface Counts {
  waiting: number;
  oldest_at: Date | null;
  failed: number;
  entries: number;
}

const counts = statement<Counts>(
  'events.measure',
  `select queued.waiting, queued.oldest_at, (select count(*)::int from mails where state = 'failed') as failed,
     coalesce((select max(id) from journal), 0) as entries
   from (select count(*)::int as waiting, min(created_at) as oldest_at from mails where state = 'queued') queued`,
);

/** Mails that wait or could not be sent, and how the journal grows. */
export const eventMeasures: MeasureSource = {
  measures: [
    {
      name: 'mails',
      help: 'Mails by state: waiting to be sent, or failed for good. Sent ones are not counted.',
    },
    {
      name: 'mails_oldest_waiting_seconds',
      help: 'How long the mail that waits longest has waited to be sent.',
    },
    { name: 'journal_entries_total', help: 'Entries of the journal, by its last number.' },
  ],
  read: async (ctx) => {
    const { waiting, oldest_at, failed, entries } = await ctx.db.one(counts);
    const now = ctx.clock.now().getTime();
    return [
      { name: 'mails', labels: { state: 'waiting' }, value: waiting },
      { name: 'mails', labels: { state: 'failed' }, value: failed },
      {
        name: 'mails_oldest_waiting_seconds',
        value: oldest_at === null ? 0 : Math.max(0, (now - oldest_at.getTime()) / 1_000),
      },
      { name: 'journal_entries_total', value: entries },
    ];
  },
};
