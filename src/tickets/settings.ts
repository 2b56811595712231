import { type Static, Type } from 'typebox';
import { Choice, Day, Nullable, Strict } from '../platform/http/index.ts';
import { type Context, fail } from '../platform/index.ts';
import { readSettings, settings } from '../settings/index.ts';
import { minutesOf, weekdays } from './hours.ts';
import { priorities } from './states.ts';

const Clock = (description: string, example: string) =>
  Type.String({
    pattern: '^([01]\\d|2[0-3]):[0-5]\\d$|^24:00$',
    'x-message': 'must be a time of the day such as 09:30',
    description,
    examples: [example],
  });
const Minutes = (description: string) =>
  Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: `${description}; null: there is no such target`,
    }),
  );
const Target = Strict({
  first_answer_minutes: Minutes('Minutes of opening time to the first answer'),
  solution_minutes: Minutes(
    'Minutes of opening time to the solution, without what the customer was asked for',
  ),
});

const Department = Strict({
  slug: Type.String({
    pattern: '^[a-z][a-z0-9-]{0,39}$',
    'x-message': 'must be small letters, digits and hyphens, such as support',
    description: 'Under which tickets name it; stays when the name changes',
    examples: ['support'],
  }),
  name: Type.String({ minLength: 1, maxLength: 100, examples: ['Technical support'] }),
  description: Type.String({ maxLength: 300, description: 'What customers turn to it for' }),
  email: Nullable(
    Type.String({
      format: 'email',
      maxLength: 254,
      description:
        'Where it is told of new tickets and replies; null: the accounts of administrators and support',
    }),
  ),
  timezone: Type.String({
    minLength: 1,
    maxLength: 60,
    description: 'Of its hours',
    examples: ['Europe/Vienna'],
  }),
  hours: Nullable(
    Type.Array(
      Strict({
        day: Choice(weekdays),
        from: Clock('Opens', '09:00'),
        to: Clock('Closes', '17:30'),
      }),
      { maxItems: 50, description: 'When somebody is there; null: around the clock, holidays or not' },
    ),
  ),
  holidays: Type.Array(Day, { maxItems: 200, description: 'Days on which nobody is there' }),
  targets: Strict({ low: Target, medium: Target, high: Target, urgent: Target }),
});

export type Department = Static<typeof Department>;

const shape = Strict({
  departments: Type.Array(Department, {
    minItems: 1,
    maxItems: 50,
    description:
      'Who answers. Hours and targets count for a ticket from the next time that something happens to it',
  }),
});

const targets = {
  low: { first_answer_minutes: 1_440, solution_minutes: 5_760 },
  medium: { first_answer_minutes: 480, solution_minutes: 2_880 },
  high: { first_answer_minutes: 240, solution_minutes: 1_440 },
  urgent: { first_answer_minutes: 60, solution_minutes: 480 },
};
const always = { email: null, timezone: 'UTC', hours: null, holidays: [], targets };

/** Who answers customers, and by when. */
export const support = settings({
  name: 'support',
  about: 'Who answers customers, at which hours, and by when',
  shape,
  defaults: {
    departments: [
      { slug: 'support', name: 'Support', description: 'Everything about your services', ...always },
      { slug: 'billing', name: 'Billing', description: 'Invoices and payments', ...always },
    ],
  },
  example: {
    departments: [
      {
        slug: 'support',
        name: 'Support',
        description: 'Everything about your services',
        email: 'support@example.com',
        timezone: 'Europe/Amsterdam',
        hours: weekdays.slice(0, 5).map((day) => ({ day, from: '09:00', to: '17:30' })),
        holidays: ['2026-12-25', '2026-12-26'],
        targets,
      },
      { slug: 'billing', name: 'Billing', description: 'Invoices and payments', ...always },
    ],
  },
  check: ({ departments }) => {
    for (const [index, department] of departments.entries()) {
      const problem = problemOf(department, departments.slice(0, index));
      if (problem !== null) return { ...problem, field: `departments[${index}].${problem.field}` };
    }
    return null;
  },
});

function problemOf({ slug, timezone, hours }: Department, others: Department[]) {
  if (others.some((other) => other.slug === slug))
    return { field: 'slug', message: 'is that of another one' };
  if (!isTimezone(timezone))
    return { field: 'timezone', message: 'must be a time zone of the IANA, such as Europe/Vienna' };
  for (const [at, { day, from, to }] of (hours ?? []).entries()) {
    if (minutesOf(to) <= minutesOf(from))
      return { field: `hours[${at}].to`, message: 'must be later than from' };
    const meets = (hours ?? [])
      .slice(0, at)
      .some((other) => other.day === day && other.from < to && from < other.to);
    if (meets) return { field: `hours[${at}]`, message: `overlaps with other hours of ${day}` };
  }
  return null;
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** All departments, in the order that staff gave them. */
export async function departmentsOf(ctx: Context): Promise<Department[]> {
  return (await readSettings(ctx, support)).departments;
}

/** The department that a customer or staff names. `unknown_department`. */
export async function requireDepartment(ctx: Context, slug: string): Promise<Department> {
  const departments = await departmentsOf(ctx);
  const found = departments.find((department) => department.slug === slug);
  if (found !== undefined) return found;
  const known = departments.map((department) => department.slug).join(', ');
  throw fail('unknown_department', { message: `There is no department ${slug}; there are ${known}` });
}

/** The department of a ticket; one that staff has done away with since is always there and promises nothing. */
export async function departmentOf(ctx: Context, slug: string): Promise<Department> {
  const departments = await departmentsOf(ctx);
  return departments.find((department) => department.slug === slug) ?? gone(slug);
}

function gone(slug: string): Department {
  const none = { first_answer_minutes: null, solution_minutes: null };
  const noTargets = Object.fromEntries(priorities.map((priority) => [priority, none]));
  return { ...always, slug, name: slug, description: '', targets: noTargets as Department['targets'] };
}
