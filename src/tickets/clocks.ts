import { addOpenTime, openTimeBetween } from './hours.ts';
import type { Department } from './settings.ts';
import { type Priority, runsIn, type TicketStatus } from './states.ts';

/** Where a ticket stands for which nothing is due: behind all others. */
export const never = new Date('9999-12-31T00:00:00.000Z');

const minuteMs = 60_000;

/** What decides by when something has to be done. */
export interface Timed {
  status: TicketStatus;
  priority: Priority;
  created_at: Date;
  first_answer_at: Date | null;
  /** Opening time that its solution has taken, in ms, without what runs since `clock_since`. */
  used_ms: number;
  clock_since: Date | null;
}

export interface Due {
  used_ms: number;
  clock_since: Date | null;
  first_answer_due_at: Date | null;
  solution_due_at: Date | null;
  due_at: Date;
}

/**
 * The clocks of a ticket that is in `status` from `now` on. Time that passed until now counts by the hours of the department
 * that had it (`before`), what comes by those of the one that has it now.
 */
export function clocksOf(ticket: Timed, now: Date, department: Department, before = department): Due {
  const passed = ticket.clock_since === null ? 0 : openTimeBetween(before, ticket.clock_since, now);
  const usedMs = ticket.used_ms + passed;
  const since = runsIn(ticket.status) ? now : null;
  const targets = department.targets[ticket.priority];
  const answer = ticket.first_answer_at === null && since !== null ? targets.first_answer_minutes : null;
  const answerAt = answer === null ? null : addOpenTime(department, ticket.created_at, answer * minuteMs);
  const solution = since === null ? null : targets.solution_minutes;
  const solutionAt =
    since === null || solution === null
      ? null
      : addOpenTime(department, since, Math.max(0, solution * minuteMs - usedMs));
  const dues = [answerAt, solutionAt].filter((at) => at !== null).map((at) => at.getTime());
  return {
    used_ms: usedMs,
    clock_since: since,
    first_answer_due_at: answerAt,
    solution_due_at: solutionAt,
    due_at: new Date(Math.min(never.getTime(), ...dues)),
  };
}
