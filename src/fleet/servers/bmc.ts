import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { BmcConnection, BmcKind } from '../../drivers/bmc/index.ts';
import { type Context, refuse, type SealedValue, statement, type TxContext } from '../../platform/index.ts';

/** A BMC as staff gives it. */
export interface NewBmc {
  kind: BmcKind;
  address: string;
  port?: number | null;
  user: string;
  password: string;
  /** SHA-256 of what it presents, of Redfish alone. */
  certificate?: string | null;
}

/** As it is read and as it is kept; the password is apart from it. */
export interface Reached {
  kind: BmcKind;
  address: string;
  port: number | null;
  user: string;
  certificate: string | null;
}

/** What no single host answers on, or whichever host happens to be asked: ourselves, and whoever is on the same cable. */
const nobodys = new Set(['unspecified', 'broadcast', 'multicast', 'loopback', 'linkLocal']);

const contextOf = (serverId: number) => `bmc of server ${serverId}`;

const writeBmc = statement<never, Reached & { serverId: number; password: Buffer }>(
  'fleet.writeServerBmc',
  `insert into server_bmcs (server_id, kind, address, port, username, password, certificate)
   values (:serverId, :kind, :address, :port::integer, :user, :password, :certificate)
   on conflict (server_id) do update set kind = excluded.kind, address = excluded.address, port = excluded.port,
     username = excluded.username, password = excluded.password, certificate = excluded.certificate, power = null, heard_at = null,
     asked_at = null, shows_line = null, problem = null, problem_since = null, is_silent = false, power_problem = null,
     uuid = null, identified_at = null, other_uuid = null`,
);
const deleteBmc = statement<never, { serverId: number }>(
  'fleet.deleteServerBmc',
  'delete from server_bmcs where server_id = :serverId',
);

const forgetReadings = statement<never, { serverId: number }>(
  'fleet.forgetServerReadings',
  'delete from server_readings where server_id = :serverId',
);

export const sealedBmcs = statement<SealedValue, { limit: number }>(
  'fleet.sealedBmcs',
  `select password as sealed, 'bmc of server ' || server_id as context from server_bmcs order by server_id limit :limit`,
);

const ownerOf = statement<{ name: string }, { serverId: number; address: string; port: number | null }>(
  'fleet.serverAtBmc',
  `select s.name from server_bmcs b join servers s on s.id = b.server_id
   where b.address = :address::inet and coalesce(b.port, 0) = coalesce(:port::integer, 0) and s.id <> :serverId`,
);

/** The name of the server that has the BMC at this place, other than one; null: none. */
export async function otherAtBmc(
  { db }: Context,
  serverId: number,
  { address, port }: Pick<Reached, 'address' | 'port'>,
): Promise<string | null> {
  return (await db.maybe(ownerOf, { serverId, address, port }))?.name ?? null;
}

/**
 * How a BMC is reached, in the form in which it is kept. `invalid_request` where no BMC can be reached so, or none of its kind here. One whose
 * certificate is pinned later, when it is enrolled, may come without.
 */
export function readBmc(
  { config }: Context,
  { kind, address, port = null, user, ...bmc }: NewBmc,
  { isPinnedLater = false }: { isPinnedLater?: boolean } = {},
): Reached {
  if (kind === 'simulated' && config.hypervisor !== 'simulator')
    throw refuse('bmc.kind', 'can be simulated only where machines are (HYPERVISOR=simulator)');
  if (isIP(address) === 0 || address.includes('%')) throw refuse('bmc.address', 'must be an IP address');
  const parsed = ipaddr.process(address);
  if (nobodys.has(parsed.range()))
    throw refuse('bmc.address', 'is no address of a single host in your network');
  const certificate = bmc.certificate?.replaceAll(':', '').toLowerCase() ?? null;
  if ((kind === 'redfish') !== (certificate !== null) && !(kind === 'redfish' && isPinnedLater))
    throw refuse(
      'bmc.certificate',
      kind === 'redfish' ? 'must be given for Redfish' : `has no meaning for ${kind}`,
    );
  return { kind, address: parsed.toString(), port, user, certificate };
}

/** Keeps how a server's BMC is reached, its password sealed; null forgets it. */
export async function keepBmc(tx: TxContext, serverId: number, bmc: NewBmc | null): Promise<void> {
  if (bmc === null) {
    await tx.db.run(deleteBmc, { serverId });
    return;
  }
  await tx.db.run(forgetReadings, { serverId });
  const password = sealBmcPassword(tx, serverId, bmc.password);
  await tx.db.run(writeBmc, { serverId, ...readBmc(tx, bmc), password });
}

export function sealBmcPassword({ seal }: Context, serverId: number, password: string): Buffer {
  return seal.close(password, contextOf(serverId));
}

export function openBmcPassword({ seal }: Context, serverId: number, sealed: Buffer): string {
  return seal.open(sealed, contextOf(serverId));
}

/** Which BMC that is and who we are there. */
export function placeOf({ kind, address, port, user }: BmcConnection): string {
  return [kind, address, port ?? '', user].join(' ');
}

/** The same of the row `b` of `server_bmcs`. */
export const placeNow = `concat_ws(' ', b.kind, host(b.address), coalesce(b.port::text, ''), b.username)`;
