import type { Files } from '../../drivers/files/index.ts';
import { type Bytes, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, requireRow, statement } from '../../platform/index.ts';
import { printProof, viewSigned } from '../return/erasure.ts';
import { findProof } from '../return/proof.ts';

interface Row {
  id: number;
  assignment_id: number;
  service_id: number;
  organization_id: number;
  server_id: number;
  server: string;
  serial: string;
  model: string | null;
  bytes: number;
  method: string | null;
  ended_at: Date;
}

const columns =
  't.id, t.assignment_id, t.service_id, t.organization_id, t.server_id, t.server, t.serial, t.model, t.bytes, t.method, t.ended_at';
const disks = pagedList<Row>({
  name: 'dedicated.erasedDisks',
  from: 'erased_disks t',
  select: `select ${columns} from erased_disks t`,
  filters: { serverId: 't.server_id = :serverId', serviceId: 't.service_id = :serviceId' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    ended_at: { by: 't.ended_at', type: 'timestamptz', of: (row) => row.ended_at.toISOString() },
  },
  order: '-ended_at',
  search: [{ by: 'lower(t.serial) collate "C"' }],
});
const proofOf = statement<{ assignment_id: number }, { id: number }>(
  'dedicated.proofOfErasure',
  'select assignment_id from erasure_proofs where assignment_id = :id',
);

/** Every disk that a proof says was wiped, the newest first unless sorted. */
export async function listErasedDisks(
  ctx: Context,
  query: ListRequest & { server_id?: number | undefined; service_id?: number | undefined },
) {
  const { rows, at } = await disks(ctx, query, { serverId: query.server_id, serviceId: query.service_id });
  return listData(
    'disks',
    rows.map((row) => ({
      ...{ id: row.id, proof_id: row.assignment_id, serial: row.serial, model: row.model },
      ...{ bytes: row.bytes, method: row.method, ended_at: row.ended_at },
      ...{ server_id: row.server_id, server: row.server, service_id: row.service_id },
      organization_id: row.organization_id,
    })),
    at,
  );
}

/** One proof, as its customer reads it; `not_found`. */
export async function readProof(ctx: Context, id: number) {
  return viewSigned(ctx, await requireProof(ctx, id));
}

/** The same to print. */
export async function readProofPdf(
  ctx: Context,
  files: Files,
  id: number,
  language: 'en' | 'de',
): Promise<Bytes> {
  return printProof(ctx, files, await requireProof(ctx, id), language);
}

async function requireProof(ctx: Context, id: number) {
  const { assignment_id: assignmentId } = await requireRow(ctx, proofOf, { id });
  const signed = await findProof(ctx, assignmentId);
  if (signed === null) throw new Error(`the proof ${id} is not kept any more`);
  return { erasure: signed.erasure, signed };
}
