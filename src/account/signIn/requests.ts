import {
  type Context,
  databaseJob,
  enqueue,
  newId,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';

/**
 * What somebody asked for by an address. The request writes it down and answers; a job sees whether there is an account.
 * So the answer, and how long it takes, are the same for every address, and mails follow when there is a way for them.
 */

export interface Registration {
  first_name: string;
  last_name: string;
  password_hash: string;
  organization_name: string;
  country: string | null;
  /** Absent from what an earlier version wrote down. */
  language?: string | null;
}

/** By its kind, what is wanted and by what it is known. */
export type Wanted = { kind: 'register'; data: Registration } | { kind: 'verify' | 'reset'; data: object };
export type AddressRequest = Wanted & { email: string };

const insertRequest = statement<
  never,
  {
    id: number;
    kind: Wanted['kind'];
    email: string;
    data: object;
    ip: string | null;
    requestId: string | null;
    now: Date;
  }
>(
  'account.insertAddressRequest',
  `insert into address_requests (id, kind, email, data, ip, request_id, created_at)
   values (:id, :kind, :email, :data, :ip, :requestId, :now)`,
);
const takeRequest = statement<
  AddressRequest & { ip: string | null; request_id: string | null },
  { id: number }
>(
  'account.takeAddressRequest',
  'delete from address_requests where id = :id returning kind, email, data, host(ip) as ip, request_id',
);

const purge = statement<never, { before: Date; limit: number }>(
  'account.purgeAddressRequests',
  `delete from address_requests where id in
     (select id from address_requests where created_at < :before order by created_at limit :limit)`,
);

interface Payload {
  id: number;
}

/** Writes down what is wanted, for a job to see to. */
export function askFor(ctx: Context, wanted: AddressRequest): Promise<void> {
  return transaction(ctx, 'account.askFor', async (tx) => {
    const id = newId();
    const { ip } = ctx.actor;
    const { kind, email, data } = wanted;
    await tx.db.run(insertRequest, {
      id,
      kind,
      email,
      data,
      ip,
      requestId: ctx.requestId,
      now: ctx.clock.now(),
    });
    await enqueue(tx, { name: jobName }, { id }, { organizationId: null });
  });
}

const jobName = 'account.answerRequest';

/** The job that sees to what was asked for. It acts as whoever asked, from where they did. */
export function answeringRequests(answer: (tx: TxContext, request: AddressRequest) => Promise<void>) {
  return databaseJob<Payload>(jobName, async (tx, { id }) => {
    const request = await tx.db.maybe(takeRequest, { id });
    if (request === null) return;
    const actor = { type: 'user' as const, userId: null, apiKeyId: null, ip: request.ip };
    await answer({ ...tx, actor, requestId: request.request_id }, request);
  });
}

/** Long enough for staff to retry a job that failed; then nobody waits for an answer any more. */
const keptMs = 7 * 24 * 3_600_000;
const batch = 1_000;

/** Forgets what was asked for and never answered, since its job failed: it holds addresses and passwords. A batch at a time. */
export async function purgeAddressRequests(ctx: Context): Promise<'more' | 'done'> {
  const before = new Date(ctx.clock.now().getTime() - keptMs);
  return (await ctx.db.run(purge, { before, limit: batch })) >= batch ? 'more' : 'done';
}
