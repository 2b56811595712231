import { type Assignment, assignmentOfReturn, type Erasure, readRentedHardware } from '../../fleet/index.ts';
import { fail, type OrganizationContext } from '../../platform/index.ts';
import { requireDedicated } from '../queries.ts';

/** How each disk of a server was wiped when its service had ended, for whoever had it. `conflict` while there is no such proof, in words. */
export async function readErasure(ctx: OrganizationContext, id: number) {
  const { status, hostname } = await requireDedicated(ctx, id);
  const assignment = await assignmentOfReturn(ctx, id);
  const against = reasonAgainst(status, assignment);
  if (against !== null || assignment === null) throw fail('conflict', { message: against ?? '' });
  const {
    server_id: serverId,
    erasures,
    powered_at: poweredAt,
    opened_at: opened,
    ended_at: ended,
  } = assignment;
  const { hardware } = await readRentedHardware(ctx, serverId);
  return {
    erasure: {
      ...{ service_id: id, hostname, system: hardware?.system ?? null },
      ...{ began_at: poweredAt ?? opened, ended_at: ended ?? opened },
      disks: assignment.disks.flatMap((serial) => {
        const erasure = erasures[serial];
        return erasure === undefined ? [] : [viewDisk(erasure)];
      }),
    },
  };
}

/** Why there is no proof; null: there is. */
function reasonAgainst(status: string, assignment: Assignment | null): string | null {
  if (status === 'cancelled')
    return 'The service was cancelled before its server was yours: nothing was on it';
  if (status !== 'terminated')
    return `The service is ${status}: its server is wiped, and that is proved, when the service has ended`;
  if (assignment === null) return 'The server is on its way back, and is wiped soon';
  if (assignment.state === 'done') return null;
  if (assignment.state === 'open' || assignment.state === 'working')
    return 'The disks of the server are being wiped: the proof is here when all of them are';
  const kept = 'Nobody else gets the server until they were wiped or destroyed';
  if (assignment.failure_code !== 'disk_not_wiped')
    return `The disks of the server could not be wiped yet, and our staff has to see to it. ${kept}`;
  const left = assignment.disks.filter((serial) => (assignment.erasures[serial]?.method ?? null) === null);
  return `Not every disk of the server could be wiped (${left.join(', ')}), and our staff has to see to it. ${kept}`;
}

function viewDisk({ model, endedAt, seconds, ...wiped }: Erasure) {
  const ended = new Date(endedAt);
  return {
    ...{ model, serial: wiped.serial, bytes: wiped.bytes, method: wiped.method },
    drive_status: statusOf(wiped.drive),
    ...{ marks: wiped.marks, marks_left: wiped.marksLeft, not_zero: wiped.notZero },
    tried: wiped.tried,
    ...{ began_at: new Date(ended.getTime() - seconds * 1_000), ended_at: ended, seconds },
  };
}

/** What the drive says of its own health, in smartctl's form; null: it says nothing. */
function statusOf({ smart_status: status }: Record<string, unknown>): 'passed' | 'failed' | null {
  if (typeof status !== 'object' || status === null || !('passed' in status)) return null;
  return status.passed === true ? 'passed' : 'failed';
}
