import { saga } from '../../platform/index.ts';
import { passwordStep } from '../password.ts';
import { disarmIfHeard, openedAt } from '../stages.ts';
import { endFailed, endStuck } from './ends.ts';
import { type MovePayload, moveJob } from './move.ts';
import { requireWentOver } from './restored.ts';
import type { MoveState, MoveStep } from './run.ts';
import { carryingOut, confirmStep, readyStep, restStep, startStep } from './steps/new.ts';
import { lookStep, offStep } from './steps/old.ts';
import { planStep } from './steps/plan.ts';
import { swapStep } from './steps/swap.ts';
import { vlanStep, vlansStep } from './steps/vlans.ts';

/** What a move does outside is done by one that a restore holds no more, and nothing is taken back by it; {@link requireWentOver} comes before each of its steps. */
function unlessHeld(step: MoveStep): MoveStep {
  if (step.transactional === true) return step;
  const { do: does, undo } = step;
  return {
    ...step,
    do: async (run) => (run.isHeld ? {} : ((await does(run)) ?? {})),
    ...(undo && {
      undo: async (run) => {
        if (!run.isHeld) await undo(run);
      },
    }),
  };
}

/**
 * A service goes from its server to another one: that is installed while the one before goes on, gets the VLANs and the addresses once the one before is off, and is its
 * customer's once it greets. Until then whatever fails leaves the service where it is. Its steps are in `steps/`, with what takes each of them back: what is done with the
 * server before (`old.ts`) and with the new one (`new.ts`), the plan for it, the VLANs of both, and the moment at which they swap.
 */
export const move = saga<MovePayload, MoveState>({
  name: moveJob.name,
  queue: 'racks',
  progress: async (run) => {
    if (run.isHeld) await requireWentOver(run);
  },
  steps: [
    ...[lookStep, planStep, passwordStep<MovePayload, MoveState>(openedAt), vlansStep],
    ...carryingOut,
    ...[restStep, offStep, vlanStep, confirmStep, startStep, readyStep],
    ...[{ name: 'disarm', do: disarmIfHeard } satisfies MoveStep, swapStep],
  ].map(unlessHeld),
  failed: endFailed,
  stuck: endStuck,
});
