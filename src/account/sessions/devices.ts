import { type Context, newId, statement, type TxContext } from '../../platform/index.ts';
import { hashToken, newDeviceToken } from './token.ts';

/** Browsers in which a person signed in before. They are told when another one comes, and it guesses on its own account. */

const knownDevice = statement<{ id: number }, { hash: Buffer; email: string }>(
  'account.knownDevice',
  `select d.id from devices d join users u on u.id = d.user_id
   where d.hash = :hash and lower(u.email) = lower(:email)`,
);
const deviceOf = statement<{ id: number }, { hash: Buffer; userId: number }>(
  'account.deviceOf',
  'select id from devices where hash = :hash and user_id = :userId',
);
const seeDevice = statement<{ id: number }, { hash: Buffer; userId: number; now: Date }>(
  'account.seeDevice',
  'update devices set last_seen_at = :now where hash = :hash and user_id = :userId returning id',
);
const isAnybodys = statement<{ has: boolean }, { hash: Buffer }>(
  'account.deviceExists',
  'select exists (select 1 from devices where hash = :hash) as has',
);
const insertDevice = statement<never, { id: number; hash: Buffer; userId: number; now: Date }>(
  'account.insertDevice',
  `insert into devices (id, user_id, hash, created_at, last_seen_at) values (:id, :userId, :hash, :now, :now)`,
);
const dropDevices = statement<never, { userId: number; keep: number }>(
  'account.dropDevices',
  `delete from devices where id in (select id from devices where user_id = :userId
     order by last_seen_at desc, id desc offset :keep)`,
);

const devicesAtMost = 50;

/** The browser's number, if whoever has this address signed in there before; null otherwise. */
export async function findDevice(ctx: Context, token: string | null, email: string): Promise<number | null> {
  if (token === null) return null;
  return (await ctx.db.maybe(knownDevice, { hash: hashToken(token), email }))?.id ?? null;
}

/** The same of a person that is known. */
export async function findDeviceOf(
  ctx: Context,
  token: string | null,
  userId: number,
): Promise<number | null> {
  if (token === null) return null;
  return (await ctx.db.maybe(deviceOf, { hash: hashToken(token), userId }))?.id ?? null;
}

export interface SeenDevice {
  id: number;
  isNew: boolean;
  /** What the browser is to keep. */
  token: string;
}

/** Notes that a person signs in here. What a browser keeps is made by us alone: nobody plants a known one. */
export async function meetDevice(tx: TxContext, userId: number, shown: string | null): Promise<SeenDevice> {
  const now = tx.clock.now();
  if (shown !== null) {
    const known = await tx.db.maybe(seeDevice, { hash: hashToken(shown), userId, now });
    if (known !== null) return { id: known.id, isNew: false, token: shown };
  }
  const isOurs = shown !== null && (await tx.db.one(isAnybodys, { hash: hashToken(shown) })).has;
  const token = isOurs ? shown : newDeviceToken(tx.seal, userId);
  const id = newId();
  await tx.db.run(insertDevice, { id, hash: hashToken(token), userId, now });
  await tx.db.run(dropDevices, { userId, keep: devicesAtMost });
  return { id, isNew: true, token };
}
