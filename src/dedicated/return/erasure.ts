import { printSheet } from '../../billing/index.ts';
import type { Files } from '../../drivers/files/index.ts';
import { type Assignment, assignmentOfReturn, isLeftUnwipedBy } from '../../fleet/index.ts';
import type { Bytes } from '../../platform/http/index.ts';
import { type Context, fail, type OrganizationContext } from '../../platform/index.ts';
import { type Dedicated, requireDedicated } from '../queries.ts';
import { type ErasureProof, erasureOf, findProof, type KeptProof } from './proof.ts';
import { sheetOf } from './sheet.ts';

/** A proof, and what was signed of it; null: it is of before proofs were signed. */
type Proof = Pick<KeptProof, 'erasure'> & { signed: KeptProof | null };

/** How each disk of a server was wiped when its service had ended, for whoever had it. `conflict` while there is no such proof, in words. */
export async function readErasure(ctx: OrganizationContext, id: number) {
  return viewSigned(ctx, await requireProof(ctx, id));
}

/** A proof as it is shown. */
export function viewSigned(ctx: Context, { erasure, signed }: Proof) {
  return {
    erasure,
    signature: signed && { jws: signed.jws, key_id: signed.keyId, keys_url: keysUrl(ctx) },
  };
}

/** The same to print, with what was signed as a file inside it. */
export async function readErasurePdf(
  ctx: OrganizationContext,
  files: Files,
  id: number,
  language: 'en' | 'de',
): Promise<Bytes> {
  return printProof(ctx, files, await requireProof(ctx, id), language);
}

/** A proof as PDF/A-3. */
export async function printProof(
  ctx: Context,
  files: Files,
  { erasure, signed }: Proof,
  language: 'en' | 'de',
): Promise<Bytes> {
  const sheet = sheetOf(erasure, signed && { ...signed, keysUrl: keysUrl(ctx) }, language);
  return { body: await printSheet(ctx, files, sheet), name: `erasure-${erasure.service_id}.pdf` };
}

async function requireProof(ctx: OrganizationContext, id: number): Promise<Proof> {
  const { status, hostname, server } = await requireDedicated(ctx, id);
  const last = await assignmentOfReturn(ctx, id);
  const hasEnded = status === 'terminated' || status === 'cancelled';
  const hasLeftUnwiped = hasEnded && server === null && (await isLeftUnwipedBy(ctx, id));
  // Of a service that has left a server for another one it is that of the server before, until it has ended.
  const isOfBefore = status === 'terminated' && server !== null && server.id !== last?.server_id;
  const assignment = last?.state === 'done' && (isOfBefore || hasLeftUnwiped) ? null : last;
  const signed = assignment === null ? null : await findProof(ctx, assignment.id);
  if (signed !== null) return { erasure: signed.erasure, signed };
  const against = reasonAgainst(status, assignment, { isBack: server === null, hasLeftUnwiped });
  if (against !== null || assignment === null) throw fail('conflict', { message: against ?? '' });
  const erasure: ErasureProof = await erasureOf(ctx, id, hostname, assignment);
  return { erasure, signed: null };
}

/** Why not every disk of the server that a service had is shown to be wiped, for whoever had it; null: they are, or nobody is to say so yet. */
export async function wordsOfUnwiped(
  ctx: Context,
  { serviceId, status, isLeftUnwiped }: Dedicated,
): Promise<string | null> {
  if (!isLeftUnwiped) return null;
  const last = await assignmentOfReturn(ctx, serviceId);
  return reasonAgainst(status, last?.state === 'done' ? null : last, { isBack: true, hasLeftUnwiped: true });
}

function keysUrl({ config }: Context): string {
  return `${config.publicUrl}/api/erasure-keys`;
}

const kept = 'Nobody else gets the server until they were wiped or destroyed';
const notYet = `The disks of the server could not be wiped yet, and our staff has to see to it. ${kept}`;

/** Why there is no proof; null: there is. `hasLeftUnwiped`: a server that the service has had was set aside, and is not wiped. */
function reasonAgainst(
  status: string,
  assignment: Assignment | null,
  { isBack, hasLeftUnwiped }: { isBack: boolean; hasLeftUnwiped: boolean },
): string | null {
  if (status === 'cancelled' && assignment === null && !hasLeftUnwiped)
    return 'The service was cancelled before its server was yours: nothing was on it';
  if (status !== 'terminated' && status !== 'cancelled')
    return `The service is ${status}: its server is wiped, and that is proved, when the service has ended`;
  if (assignment === null)
    return hasLeftUnwiped ? notYet : 'The server is on its way back, and is wiped soon';
  if (assignment.state === 'done')
    return isBack
      ? null
      : 'The disks of the server were wiped, and it is being switched off: the proof is here in a moment';
  if (assignment.state === 'open' || assignment.state === 'working')
    return 'The disks of the server are being wiped: the proof is here when all of them are';
  if (assignment.failure_code !== 'disk_not_wiped' || assignment.state === 'cancelled') return notYet;
  const left = assignment.disks.filter((serial) => (assignment.erasures[serial]?.method ?? null) === null);
  return `Not every disk of the server could be wiped (${left.join(', ')}), and our staff has to see to it. ${kept}`;
}
