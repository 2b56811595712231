import type { CalendarSettings } from '../settings.ts';
import { nextOf, type Situation } from './plan.ts';
import { type Step, steps, warnings } from './schedule.ts';

/** What is going to happen to a service, if nobody pays and every mail is sent on its day. */
export interface Foreseen {
  on: string;
  step: Step;
}

/** The steps of one service until a day, in order. */
export function foresee(
  situation: Situation,
  settings: CalendarSettings,
  today: string,
  until: string,
): Foreseen[] {
  const found: Foreseen[] = [];
  let now = today;
  let current = situation;
  // A calendar has few steps, and no rule that is changed by mistake shall make this go on for ever.
  for (let turn = 0; turn < 2 * steps.length + 2; turn += 1) {
    if (current.warning?.sentOn === null)
      current = { ...current, warning: { ...current.warning, sentOn: now } };
    const next = nextOf(current, settings);
    if (!('do' in next)) return found;
    if (next.on > now) now = next.on;
    if (now > until) return found;
    if (next.do === 'start_over') {
      current = afterStartingOver(current, next.from, now);
      continue;
    }
    found.push({ on: now, step: next.do });
    if (next.do === 'terminate' || next.do === 'end') return found;
    current = afterStep(current, next.do, now);
  }
  return found;
}

/** What a service's situation will be when a step is done and told of on one day. */
export function afterStep(situation: Situation, step: Step, day: string): Situation {
  const warning = warnings.has(step) ? { step, sentOn: day } : situation.warning;
  const invoice =
    step === 'invoice' ? { status: 'unpaid', issuedOn: day, dueOn: situation.dueOn } : situation.invoice;
  const isSuspended = step === 'suspend';
  return {
    ...situation,
    step,
    warning,
    invoice,
    ...(isSuspended && { status: 'suspended', suspendedBy: 'calendar' }),
  };
}

/** And when it goes through the steps once more. */
export function afterStartingOver(situation: Situation, from: Step | null, day: string): Situation {
  return { ...situation, step: from, warning: from === null ? null : { step: from, sentOn: day } };
}
