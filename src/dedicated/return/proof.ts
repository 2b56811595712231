import { readBrand } from '../../billing/index.ts';
import {
  type Assignment,
  type Erasure,
  findAssignment,
  readRentedHardware,
  serverName,
} from '../../fleet/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { hostnameOf } from '../queries.ts';
import { type PublicKey, payloadOf, signJson } from './sign.ts';

/** How the disks of a service's server were wiped, as it is signed and shown; moments as ISO 8601. */
export interface ErasureProof {
  service_id: number;
  hostname: string;
  system: { vendor: string; product: string; serial: string } | null;
  began_at: string;
  ended_at: string;
  disks: {
    model: string | null;
    serial: string;
    bytes: number;
    method: string | null;
    drive_status: 'passed' | 'failed' | null;
    marks: number;
    marks_left: number;
    not_zero: number;
    tried: { method: string; exit: number; log: string }[];
    began_at: string;
    ended_at: string;
    seconds: number;
  }[];
}

export interface KeptProof {
  erasure: ErasureProof;
  jws: string;
  keyId: string;
}

const insert = statement<
  never,
  { serviceId: number; assignmentId: number; jws: string; keyId: string; publicKey: string; now: Date }
>(
  'dedicated.insertErasureProof',
  `insert into erasure_proofs (service_id, organization_id, assignment_id, jws, key_id, public_key, signed_at)
   select id, organization_id, :assignmentId, :jws, :keyId, :publicKey::jsonb, :now from services where id = :serviceId
   on conflict (assignment_id) do nothing`,
);
const named = statement<{ hostname: string | null; domain: string | null }, { serviceId: number }>(
  'dedicated.nameOfServer',
  `select y.hostname, s.domain from services s left join dedicated_systems y on y.service_id = s.id where s.id = :serviceId`,
);
const insertDisks = statement<
  never,
  { serviceId: number; assignmentId: number; serverId: number; server: string; disks: string }
>(
  'dedicated.insertErasedDisks',
  `insert into erased_disks (assignment_id, service_id, organization_id, server_id, server, serial, model, bytes, method, ended_at)
   select :assignmentId, s.id, s.organization_id, :serverId, :server, d.serial, d.model, d.bytes, d.method, d.ended_at
   from services s, jsonb_to_recordset(:disks::jsonb) d (serial text, model text, bytes bigint, method text, ended_at timestamptz)
   where s.id = :serviceId on conflict (assignment_id, serial) do nothing`,
);
// One that a service had left for another server is read by staff, once the other one is on its way back.
const ofService = statement<{ jws: string; key_id: string }, { assignmentId: number }>(
  'dedicated.erasureProof',
  'select jws, key_id from erasure_proofs where assignment_id = :assignmentId',
);
const keys = statement<{ key_id: string; public_key: PublicKey }>(
  'dedicated.erasureKeys',
  'select distinct on (key_id) key_id, public_key from erasure_proofs order by key_id, assignment_id',
);

/** Signs how the disks of a server that came back from a service were wiped, and keeps it; once, all of them were. Of one that the service had never had there is nothing to prove. */
export async function keepProof(tx: TxContext, serviceId: number, assignmentId: number): Promise<void> {
  const assignment = await findAssignment(tx, assignmentId);
  if (assignment?.state !== 'done' || !assignment.of_tenant) return;
  const { hostname, domain } = await tx.db.one(named, { serviceId });
  const erasure = await erasureOf(tx, serviceId, hostname ?? hostnameOf(serviceId, domain), assignment);
  const { name } = await readBrand(tx);
  const now = tx.clock.now();
  const payload = { iss: name, iat: Math.floor(now.getTime() / 1_000), erasure };
  const { jws, keyId, publicKey } = signJson(tx.seal, payload);
  await tx.db.run(insert, {
    ...{ serviceId, assignmentId, jws, keyId, publicKey: JSON.stringify(publicKey), now },
  });
  const { server_id: serverId } = assignment;
  const server = await serverName(tx, serverId);
  await tx.db.run(insertDisks, {
    ...{ serviceId, assignmentId, serverId, server, disks: JSON.stringify(erasure.disks) },
  });
}

/** What was signed of an assignment; null: nothing was. */
export async function findProof(ctx: Context, assignmentId: number): Promise<KeptProof | null> {
  const row = await ctx.db.maybe(ofService, { assignmentId });
  if (row === null) return null;
  const { erasure } = payloadOf(row.jws) as { erasure: ErasureProof };
  return { erasure, jws: row.jws, keyId: row.key_id };
}

/** The keys that proofs of erasure verify with, those of before included, as a set of JSON web keys (RFC 7517). */
export async function listProofKeys(ctx: Context) {
  const { keyId, publicKey } = signJson(ctx.seal, {});
  const found = new Map([[keyId, publicKey]]);
  for (const { key_id, public_key } of await ctx.db.many(keys)) found.set(key_id, public_key);
  return { keys: [...found].map(([kid, key]) => ({ ...key, kid, use: 'sig', alg: 'EdDSA' })) };
}

/** What is known of how they were wiped, signed or not. */
export async function erasureOf(
  ctx: Context,
  serviceId: number,
  hostname: string,
  assignment: Assignment,
): Promise<ErasureProof> {
  const { erasures, opened_at: opened, powered_at: powered, ended_at: ended } = assignment;
  const { hardware } = await readRentedHardware(ctx, assignment.server_id);
  return {
    ...{ service_id: serviceId, hostname, system: hardware?.system ?? null },
    ...{ began_at: (powered ?? opened).toISOString(), ended_at: (ended ?? opened).toISOString() },
    disks: assignment.disks.flatMap((serial) => {
      const erasure = erasures[serial];
      return erasure === undefined ? [] : [viewDisk(erasure)];
    }),
  };
}

function viewDisk({ model, endedAt, seconds, ...wiped }: Erasure) {
  const ended = new Date(endedAt);
  const began = new Date(ended.getTime() - seconds * 1_000);
  return {
    ...{ model, serial: wiped.serial, bytes: wiped.bytes, method: wiped.method },
    drive_status: statusOf(wiped.drive),
    ...{ marks: wiped.marks, marks_left: wiped.marksLeft, not_zero: wiped.notZero },
    tried: wiped.tried,
    ...{ began_at: began.toISOString(), ended_at: ended.toISOString(), seconds },
  };
}

/** What the drive says of its own health, in smartctl's form; null: it says nothing. */
function statusOf({ smart_status: status }: Record<string, unknown>): 'passed' | 'failed' | null {
  if (typeof status !== 'object' || status === null || !('passed' in status)) return null;
  return status.passed === true ? 'passed' : 'failed';
}
