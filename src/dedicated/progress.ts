import type { Assignment } from '../fleet/index.ts';

const mb = (bytes: number) => Math.round(bytes / 1_000_000);

/** Whose server it is on which the installer is at work. */
interface Whose {
  /** Its customer has it already, and knows its disks by their serial numbers. Default: it is nobody's yet. */
  isTheirs?: boolean;
}

/** How far our installer has come with a server: in percent, and in words for its customer. */
export function progressOf(
  assignment: Assignment,
  { isTheirs = false }: Whose = {},
): { percent: number; note: string | null } {
  const { kind, state, powered_at: powered, reached_at: reached } = assignment;
  if (state === 'done' || reached !== null) {
    const what = kind === 'rescue' ? 'The rescue system is there' : 'The server starts what was installed';
    return { percent: 97, note: what };
  }
  if (state === 'open')
    return powered === null
      ? { percent: 5, note: 'The server is being switched' }
      : { percent: 10, note: 'The server starts our system from the network' };
  if (state !== 'working') return { percent: 0, note: null };
  return kind === 'rescue'
    ? { percent: 60, note: 'The rescue system begins' }
    : progressOfWork(assignment, isTheirs);
}

function progressOfWork(
  { step, bytes, tree_bytes: of, wipe, disks, erasures }: Assignment,
  isTheirs: boolean,
) {
  const total = (wipe ?? disks).length;
  const wiped = Object.keys(erasures).length;
  if (step === null) return { percent: 15, note: 'The server says what it has' };
  if (step.startsWith('wipe ')) {
    const nth = Math.min(wiped + 1, total);
    // A server that fails now never is theirs: its serial numbers, and which of its disks hangs, say nothing of what they get.
    const which = isTheirs ? `the disk ${step.slice('wipe '.length)}, ` : 'the disks, ';
    return {
      percent: 20 + Math.floor((20 * wiped) / total),
      note: `Wiping ${which}${nth} of ${total}`,
    };
  }
  if (step === 'partition') return { percent: 40, note: 'Partitioning the disks' };
  if (step === 'check') return { percent: 91, note: 'Reading the disk back' };
  if (step !== 'write') return { percent: 93, note: 'Making the disks start the system' };
  if (bytes === null || of === null || of === 0) return { percent: 45, note: 'Writing the system' };
  const share = Math.min(1, bytes / of);
  return { percent: 45 + Math.floor(45 * share), note: `Writing the system: ${mb(bytes)} of ${mb(of)} MB` };
}
