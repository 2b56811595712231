import type { Assignment } from '../fleet/index.ts';

const mb = (bytes: number) => Math.round(bytes / 1_000_000);

/** How far our installer has come with a server: in percent, and in words for its customer. */
export function progressOf(assignment: Assignment): { percent: number; note: string | null } {
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
  return kind === 'rescue' ? { percent: 60, note: 'The rescue system begins' } : progressOfWork(assignment);
}

function progressOfWork({ step, bytes, tree_bytes: of, wipe, disks, erasures }: Assignment) {
  const total = (wipe ?? disks).length;
  const wiped = Object.keys(erasures).length;
  if (step === null) return { percent: 15, note: 'The server says what it has' };
  if (step.startsWith('wipe ')) {
    const nth = Math.min(wiped + 1, total);
    return {
      percent: 20 + Math.floor((20 * wiped) / total),
      note: `Wiping the disk ${step.slice('wipe '.length)}, ${nth} of ${total}`,
    };
  }
  if (step === 'partition') return { percent: 40, note: 'Partitioning the disks' };
  if (step === 'check') return { percent: 91, note: 'Reading the disk back' };
  if (step !== 'write') return { percent: 93, note: 'Making the disks start the system' };
  if (bytes === null || of === null || of === 0) return { percent: 45, note: 'Writing the system' };
  const share = Math.min(1, bytes / of);
  return { percent: 45 + Math.floor(45 * share), note: `Writing the system: ${mb(bytes)} of ${mb(of)} MB` };
}
