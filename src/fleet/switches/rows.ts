import type { AuthProtocol, SwitchConnection } from '../../drivers/switch/index.ts';
import { lackOf } from '../../drivers/switch/index.ts';
import { type Context, type SealedValue, statement } from '../../platform/index.ts';

export interface SwitchRow {
  id: number;
  name: string;
  location: string;
  address: string;
  port: number;
  username: string;
  auth_protocol: AuthProtocol;
  note: string | null;
  generation: number;
  check_state: 'checking' | 'ok' | 'failed';
  checked_at: Date | null;
  description: string | null;
  sets_vlans: boolean | null;
  problem: string | null;
  heard_at: Date | null;
  ports: number;
  created_at: Date;
}

export const selectSwitch = `
  select t.id, t.name, t.location, host(t.address) as address, t.port, t.username, t.auth_protocol, t.note, t.generation,
    t.check_state, t.checked_at, t.description, t.sets_vlans, t.problem, t.heard_at, t.created_at,
    (select count(*)::int from switch_ports p where p.switch_id = t.id and p.gone_at is null) as ports
  from switches t`;
export const switchById = statement<SwitchRow, { id: number }>(
  'fleet.switch',
  `${selectSwitch} where t.id = :id`,
);
export const lockRow = statement<never, { id: number }>(
  'fleet.lockSwitch',
  'select id from switches where id = :id for update',
);
const passphrasesOf = statement<{ passphrases: Buffer }, { id: number }>(
  'fleet.passphrasesOfSwitch',
  'select passphrases from switches where id = :id',
);

export interface Passphrases {
  auth: string;
  privacy: string;
}

const contextOf = (id: number) => `switch ${id}`;

export function sealPassphrases({ seal }: Context, id: number, passphrases: Passphrases): Buffer {
  return seal.close(JSON.stringify(passphrases), contextOf(id));
}

export const sealedSwitches = statement<SealedValue, { limit: number }>(
  'fleet.sealedSwitches',
  `select passphrases as sealed, 'switch ' || id as context from switches order by id limit :limit`,
);

/** How a switch is spoken to, passphrases and all: for the driver alone. */
export async function connectionOf(ctx: Context, row: SwitchRow): Promise<SwitchConnection> {
  const { passphrases } = await ctx.db.one(passphrasesOf, { id: row.id });
  const { auth, privacy } = JSON.parse(ctx.seal.open(passphrases, contextOf(row.id))) as Passphrases;
  return {
    ...{ kind: 'snmp', address: row.address, port: row.port, user: row.username },
    ...{ authProtocol: row.auth_protocol, authPassphrase: auth, privacyPassphrase: privacy },
  };
}

/** As staff sees it. */
export function viewSwitch(row: SwitchRow) {
  return {
    ...{ id: row.id, name: row.name, location: row.location, address: row.address, port: row.port },
    ...{ user: row.username, auth_protocol: row.auth_protocol, note: row.note },
    check: { state: row.check_state, checked_at: row.checked_at, problem: row.problem },
    description: row.description,
    isolation: row.sets_vlans === false ? lackOf('vlans') : null,
    ...{ heard_at: row.heard_at, ports: row.ports, created_at: row.created_at },
  };
}
