import { isJobUnfinishedAbout, type PeriodicJob, statement, type TxContext } from '../platform/index.ts';
import { publishName, reverseNaming } from './reverse.ts';

const hourMs = 3_600_000;

// By a part of the address that stays, so that each has its hour, whichever process it is and whenever that began.
const namedOfHour = statement<{ address: string }, { hour: number }>(
  'fleet.namedOfHour',
  `select host(address) as address from addresses
   where state = 'taken' and not held and dns_name is not null and abs(hashtext(host(address)) % 24) = :hour
   order by address`,
);

/**
 * Tells the name server each name once a day: it may have come back from a backup of its own, or our database from one, and what both say
 * is the same again by the next day. One that staff knows of as failed is left to them.
 */
export const tellingNames: PeriodicJob = {
  name: 'fleet.tellNames',
  intervalMs: hourMs,
  anyTime: true,
  work: async (tx: TxContext) => {
    if (tx.config.dns === 'database') return;
    const hour = tx.clock.now().getUTCHours();
    for (const { address } of await tx.db.many(namedOfHour, { hour }))
      if (!(await isJobUnfinishedAbout(tx, reverseNaming, { address }))) await publishName(tx, address);
  },
};
