import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, daysBetween } from '../../platform/index.ts';
import { type CalendarSettings, calendar, check } from '../settings.ts';
import { foresee } from './foresee.ts';
import { nextOf, type Situation } from './plan.ts';
import { daysOf, type Step, steps, warnings } from './schedule.ts';

const dueOn = '2027-03-01';
const taken: Situation = {
  status: 'active',
  suspendedBy: null,
  cancelled: false,
  autoRenew: true,
  duedate: dueOn,
  dueOn,
  invoice: null,
  step: null,
  warning: null,
  promisedUntil: null,
  isBeingPaid: false,
};

const days = (minimum: number, maximum: number) => fc.option(fc.integer({ min: minimum, max: maximum }));
const anySettings: fc.Arbitrary<CalendarSettings> = fc
  .record({
    invoice_days_before: fc.integer({ min: 1, max: 60 }),
    reminder_days_before: days(0, 30),
    charge_days_before: fc.integer({ min: 0, max: 5 }),
    overdue_days_after: fc.integer({ min: 1, max: 10 }),
    last_reminder_days_after: days(2, 20),
    late_fee_days_after: days(1, 30),
    suspend_days_after: days(3, 40),
    terminate_days_after: days(4, 90),
    ending_notice_days_before: fc.integer({ min: 1, max: 60 }),
  })
  .map((some) => ({ ...calendar.defaults, ...some }))
  .filter((settings) => check(settings) === null);

/** What happens to a service that nobody pays, when each mail is sent so many days after its step. */
function happens(
  settings: CalendarSettings,
  mailDelay: () => number,
): { step: Step; on: string; sentOn: string }[] {
  const found: { step: Step; on: string; sentOn: string }[] = [];
  let situation = taken;
  let today = '2026-12-01';
  for (let turn = 0; turn < 20; turn += 1) {
    const next = nextOf(situation, settings);
    if (!('do' in next) || next.do === 'start_over') return found;
    if (next.on > today) today = next.on;
    const sentOn = addDays(today, mailDelay());
    found.push({ step: next.do, on: today, sentOn });
    if (next.do === 'terminate') return found;
    situation = {
      ...situation,
      step: next.do,
      ...(next.do === 'invoice' && { invoice: { status: 'unpaid', issuedOn: today, dueOn } }),
      ...(next.do === 'suspend' && { status: 'suspended' as const, suspendedBy: 'calendar' as const }),
      ...(warnings.has(next.do) && { warning: { step: next.do, sentOn } }),
    };
  }
  return found;
}

describe('what comes next', () => {
  it('comes on its day, each step once and in order, when every mail is sent at once', () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        const day = daysOf(settings);
        const wanted = steps
          .filter((step) => day[step] !== null)
          .map((step) => ({ step, on: addDays(dueOn, day[step] ?? 0) }));
        const seen = happens(settings, () => 0).map(({ step, on }) => ({ step, on }));
        expect(seen.map(({ step }) => step)).toEqual(wanted.map(({ step }) => step));
        // Those that were planned for the same day or out of order wait for the one before.
        for (const [index, { on }] of seen.entries())
          expect(on >= (wanted[index]?.on ?? '') && on >= (seen[index - 1]?.on ?? '')).toBe(true);
      }),
    );
  });

  it('never follows a warning sooner than was planned, however late that was sent', () => {
    fc.assert(
      fc.property(anySettings, fc.array(fc.nat(40), { minLength: 10, maxLength: 10 }), (settings, delays) => {
        const day = daysOf(settings);
        let nth = 0;
        const seen = happens(settings, () => delays[nth++ % delays.length] ?? 0);
        let warned: (typeof seen)[number] | null = null;
        for (const each of seen) {
          if (warned !== null && each.step !== 'charge' && warned.step !== 'invoice') {
            const planned =
              (day[each.step as keyof typeof day] ?? 0) - (day[warned.step as keyof typeof day] ?? 0);
            expect(daysBetween(warned.sentOn, each.on)).toBeGreaterThanOrEqual(Math.max(1, planned));
          }
          if (warned !== null && each.step !== 'charge') expect(each.on > warned.sentOn).toBe(true);
          if (warnings.has(each.step)) warned = each;
        }
      }),
    );
  });

  it('is nothing but the charge on its day while the warning before it was not sent', () => {
    for (const step of ['invoice', 'reminder', 'overdue', 'last_reminder'] as const) {
      const invoice = { status: 'unpaid', issuedOn: '2027-02-15', dueOn };
      const situation = { ...taken, invoice, step, warning: { step, sentOn: null } };
      const next = nextOf(situation, calendar.defaults);
      expect([step, next]).toEqual([
        step,
        step === 'invoice' || step === 'reminder' ? { do: 'charge', on: dueOn } : { waits: 'mail' },
      ]);
    }
  });

  it('is never the end of a service that was not suspended, or that staff suspended', () => {
    const invoice = { status: 'unpaid', issuedOn: '2027-02-15', dueOn };
    const warning = { step: 'suspend', sentOn: '2027-03-15' } as const;
    const suspended: Situation = { ...taken, status: 'suspended', invoice, step: 'suspend', warning };
    const next = (change: Partial<Situation>) => nextOf({ ...suspended, ...change }, calendar.defaults);
    expect(next({ suspendedBy: 'calendar' })).toEqual({ do: 'terminate', on: '2027-04-14' });
    expect(next({ suspendedBy: 'staff' })).toEqual({ waits: 'staff' });
    expect(next({ status: 'active' })).toMatchObject({ do: 'start_over', from: 'overdue' });
    expect(next({ suspendedBy: 'calendar', isBeingPaid: true })).toEqual({ waits: 'payment' });
    expect(next({ suspendedBy: 'calendar', warning: { step: 'suspend', sentOn: null } })).toEqual({
      waits: 'mail',
    });
  });

  it('waits for a promise, and then for the days that follow a warning', () => {
    const invoice = { status: 'unpaid', issuedOn: '2027-02-15', dueOn };
    const warned: Situation = {
      ...taken,
      invoice,
      step: 'last_reminder',
      warning: { step: 'last_reminder', sentOn: '2027-03-08' },
    };
    expect(nextOf(warned, calendar.defaults)).toEqual({ do: 'suspend', on: '2027-03-15' });
    expect(nextOf({ ...warned, promisedUntil: '2027-03-20' }, calendar.defaults)).toEqual({
      do: 'suspend',
      on: '2027-03-27',
    });
    expect(nextOf({ ...warned, promisedUntil: '2027-03-01' }, calendar.defaults)).toEqual({
      do: 'suspend',
      on: '2027-03-15',
    });
  });

  it('is the end of the paid time for what was cancelled, and a notice first where it is not renewed', () => {
    expect(nextOf({ ...taken, cancelled: true }, calendar.defaults)).toEqual({ do: 'end', on: dueOn });
    const ending = { ...taken, autoRenew: false };
    expect(nextOf(ending, calendar.defaults)).toEqual({ do: 'ending_notice', on: '2027-02-15' });
    const told = (sentOn: string | null): Situation => ({
      ...ending,
      step: 'ending_notice',
      warning: { step: 'ending_notice', sentOn },
    });
    expect(nextOf(told('2027-02-15'), calendar.defaults)).toEqual({ do: 'end', on: dueOn });
    expect(nextOf(told('2027-02-25'), calendar.defaults)).toEqual({ do: 'end', on: '2027-03-11' });
    expect(nextOf(told(null), calendar.defaults)).toEqual({ waits: 'mail' });
    expect(nextOf({ ...told('2027-02-15'), autoRenew: true }, calendar.defaults)).toMatchObject({
      do: 'start_over',
      from: null,
    });
  });

  it('is an invoice again when the one before was cancelled in time, and nothing easier when it was overdue', () => {
    const invoice = { status: 'cancelled', issuedOn: '2027-02-15', dueOn };
    const cancelledAt = (step: Step | null): Situation => ({
      ...taken,
      invoice,
      step,
      warning: step === null ? null : { step, sentOn: '2027-02-26' },
    });
    expect(nextOf(cancelledAt('reminder'), calendar.defaults)).toMatchObject({
      do: 'start_over',
      from: null,
    });
    const again = { ...cancelledAt('reminder'), invoice: { ...invoice, issuedOn: dueOn } };
    expect(nextOf(again, calendar.defaults)).toMatchObject({ do: 'charge' });
    expect(nextOf(cancelledAt(null), calendar.defaults)).toMatchObject({ do: 'invoice' });
    expect(nextOf(cancelledAt('overdue'), calendar.defaults)).toMatchObject({ do: 'last_reminder' });
  });

  it('is foreseen as it comes', () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        const seen = happens(settings, () => 0).map(({ step, on }) => ({ step, on }));
        expect(foresee(taken, settings, '2026-12-01', '2030-01-01')).toEqual(seen);
      }),
    );
  });
});
