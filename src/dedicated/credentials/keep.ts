import { type Context, type SealedValue, statement, type TxContext } from '../../platform/index.ts';
import { generatePassword } from '../../vps/index.ts';

/** Whom our systems let in with a password. */
const username = 'root';

const contextOf = (serviceId: number) => `credentials of service ${serviceId}`;

const kept = statement<{ password: Buffer | null }, { serviceId: number }>(
  'dedicated.keptPassword',
  'select password from dedicated_credentials where service_id = :serviceId for update',
);
const write = statement<
  never,
  { serviceId: number; organizationId: number; username: string; password: Buffer; now: Date }
>(
  'dedicated.keepPassword',
  `insert into dedicated_credentials (service_id, organization_id, username, password, made_at)
   values (:serviceId, :organizationId, :username, :password, :now)
   on conflict (service_id) do update set organization_id = excluded.organization_id, username = excluded.username, password = excluded.password,
     made_at = excluded.made_at, shown_at = null, shown_to = null`,
);
const forget = statement<never, { serviceId: number }>(
  'dedicated.forgetPassword',
  'delete from dedicated_credentials where service_id = :serviceId',
);

export const sealedCredentials = statement<SealedValue, { limit: number }>(
  'dedicated.sealedCredentials',
  `select password as sealed, 'credentials of service ' || service_id as context from dedicated_credentials where password is not null
   order by service_id limit :limit`,
);

/**
 * The password that a server gets where nobody gave one: made once, kept sealed until it is shown once. Another try of the same finds the one that it made.
 * Gives it in clear, for its hash.
 */
export async function ownPassword(tx: TxContext, serviceId: number, organizationId: number): Promise<string> {
  const before = await tx.db.maybe(kept, { serviceId });
  if (before?.password) return openCredentials(tx, serviceId, before.password);
  const password = generatePassword();
  await keepPassword(tx, serviceId, organizationId, password);
  return password;
}

/** From now on this is the password of a service's server that can be shown, once. */
export async function keepPassword(
  tx: TxContext,
  serviceId: number,
  organizationId: number,
  password: string,
): Promise<void> {
  const sealed = tx.seal.close(password, contextOf(serviceId));
  await tx.db.run(write, { serviceId, organizationId, username, password: sealed, now: tx.clock.now() });
}

/** The password of a service's server that was made and not shown yet; null: there is none. */
export async function unshownPassword(tx: TxContext, serviceId: number): Promise<string | null> {
  const before = await tx.db.maybe(kept, { serviceId });
  return before?.password ? openCredentials(tx, serviceId, before.password) : null;
}

/** What was made before opens nothing any more, as after a reinstallation with another one, or when the service has ended. */
export async function forgetCredentials(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(forget, { serviceId });
}

export function openCredentials({ seal }: Context, serviceId: number, sealed: Buffer): string {
  return seal.open(sealed, contextOf(serviceId));
}
