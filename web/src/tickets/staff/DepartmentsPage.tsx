import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { updateSettings } from '../../../../client/generated/fields/updateSettings.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf } from '../../data/drawn.ts';
import { settings } from '../../data/queries/staff/index.ts';
import { ticketPriorities } from '../../data/states.ts';
import { day, openTime, weekday } from '../../text/formats.ts';
import { type Language, useText } from '../../text/index.ts';
import {
  Act,
  Fact,
  Field,
  Fieldset,
  List,
  LongField,
  Page,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Text,
  Tick,
  useWord,
  type Values,
} from '../../ui/index.ts';

type Department = Schema<'SupportSettings'>['departments'][number];
type Hours = NonNullable<Department['hours']>;

const weekdays = updateSettings['support.departments[].hours[].day'].choices;
const goals = ['first_answer_minutes', 'solution_minutes'] as const;

/** Who answers customers, at which hours, and by when. */
export function DepartmentsPage() {
  const { t } = useText();
  const read = useQuery(settings());
  const departments = read.data?.settings.support.departments;
  return (
    <Page
      title={t('staff.departments')}
      aside={
        departments !== undefined && (
          <Act
            operation="updateSettings"
            fields={updateSettings}
            label={t('departments.new')}
            size="sm"
            isFirst
            onAct={(typed) => change((all) => [...all, typedDepartment(typed, departments.length)])}
          >
            <Fields at={departments.length} />
          </Act>
        )
      }
    >
      <Text c="dimmed">{t('departments.text')}</Text>
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
      {read.isLoading && <Skeleton height={260} />}
      {departments?.map((department, at) => (
        <One key={department.slug} of={department} at={at} count={departments.length} />
      ))}
    </Page>
  );
}

const departmentsNow = partOf(drawnOf('/staff/settings'), ({ settings: { support } }) => support.departments);

/** Changes the departments as they are now, unless somebody has changed them since `ifMatch`, or does at the same moment. */
async function change(by: (departments: Department[]) => Department[], ifMatch?: string): Promise<void> {
  const { now, tag } = await departmentsNow.read();
  const departments = by([...now]);
  await client.patch('/staff/settings', { body: { support: { departments } }, ifMatch: ifMatch ?? tag });
}

interface OneProps {
  of: Department;
  at: number;
  count: number;
}

function One({ of: department, at, count }: OneProps) {
  const { t, language } = useText();
  const { slug, name, description, email, holidays } = department;
  const move = (by: number) =>
    change((all) => {
      const from = all.findIndex((each) => each.slug === slug);
      if (from >= 0) all.splice(from + by, 0, ...all.splice(from, 1));
      return all;
    });
  return (
    <Section
      title={name}
      aside={
        <>
          {at > 0 && <Act operation="updateSettings" label={t('departments.up')} onAct={() => move(-1)} />}
          {at < count - 1 && (
            <Act operation="updateSettings" label={t('departments.down')} onAct={() => move(1)} />
          )}
          <Act
            operation="updateSettings"
            fields={updateSettings}
            label={t('support.change')}
            of={partOf(departmentsNow, (all) => all.find((each) => each.slug === slug))}
            onAct={(typed, _files, ifMatch) =>
              change(
                (all) =>
                  all.map((each) => (each.slug === slug ? { ...typedDepartment(typed, at), slug } : each)),
                ifMatch,
              )
            }
          >
            {(now) => <Fields of={now ?? department} at={at} />}
          </Act>
          <Act
            operation="updateSettings"
            label={t('departments.remove')}
            text={t('departments.removeText', { name })}
            isDangerous
            action={count > 1 ? undefined : { allowed: false, reason: t('departments.last') }}
            onAct={() => change((all) => all.filter((each) => each.slug !== slug))}
          />
        </>
      }
    >
      {description !== '' && <Text style={{ overflowWrap: 'anywhere' }}>{description}</Text>}
      <div className="facts">
        <Fact name={t('departments.hours')}>
          <Opening of={department} />
        </Fact>
        <Fact name={t('departments.told')}>{email ?? t('departments.everybody')}</Fact>
        <Fact name={t('field.slug')}>{slug}</Fact>
        <Fact name={t('departments.holidays')}>
          {holidays.length === 0 ? '–' : holidays.map((each) => day(each, language)).join(' · ')}
        </Fact>
      </div>
      <Targets of={department} />
    </Section>
  );
}

/** When somebody is there: days with the same hours stand in one line. */
function Opening({ of: { hours, timezone } }: { of: Department }) {
  const { t, language } = useText();
  if (hours === null) return t('departments.always');
  return (
    <>
      {linesOf(hours, language).map((line) => (
        <div key={line}>{line}</div>
      ))}
      {hours.length === 0 && t('departments.never')}
      <Text size="sm" c="dimmed">
        {timezone}
      </Text>
    </>
  );
}

function linesOf(hours: Hours, language: Language): string[] {
  const open = weekdays
    .map((name, nth) => ({ nth, spans: spansOf(hours, name) }))
    .filter(({ spans }) => spans !== '');
  const runs: { first: number; last: number; spans: string }[] = [];
  for (const { nth, spans } of open) {
    const run = runs.at(-1);
    if (run?.spans === spans && run.last === nth - 1) run.last = nth;
    else runs.push({ first: nth, last: nth, spans });
  }
  return runs.map(({ first, last, spans }) => {
    const days = [...new Set([first, last])].map((nth) => weekday(nth, language, 'short'));
    return `${days.join('–')} ${spans}`;
  });
}

/** As it is shown and typed: `09:00–12:00, 13:00–17:30`. */
function spansOf(hours: Hours, name: string): string {
  return hours
    .filter((each) => each.day === name)
    .map(({ from, to }) => `${from}–${to}`)
    .join(', ');
}

function Targets({ of: { targets } }: { of: Department }) {
  const { t, language } = useText();
  const word = useWord();
  const shown = (minutes: number | null) => (minutes === null ? '–' : openTime(minutes, language));
  return (
    <List
      label={t('departments.targets')}
      items={ticketPriorities}
      keyOf={(priority) => priority}
      columns={[
        { name: t('field.priority'), cell: (priority) => word(priority) },
        ...goals.map((goal) => ({
          name: t(`departments.${goal}`),
          isNumber: true,
          cell: (priority: (typeof ticketPriorities)[number]): ReactNode => shown(targets[priority][goal]),
        })),
      ]}
      error={null}
      onRetry={() => undefined}
      empty={null}
    />
  );
}

/** As the API names what is wrong with it. */
const nameAt = (at: number) => `support.departments[${at}]`;

function Fields({ of: department, at }: { of?: Department; at: number }) {
  const { t, language } = useText();
  const word = useWord();
  const [isAlways, setAlways] = useState((department?.hours ?? null) === null);
  const name = (field: string) => `${nameAt(at)}.${field}`;
  return (
    <>
      <Field name={name('name')} label={t('field.name')} defaultValue={department?.name} />
      {department === undefined && (
        <Field
          name={name('slug')}
          label={t('field.slug')}
          help={t('departments.slugHelp')}
          autoComplete="off"
        />
      )}
      <LongField
        name={name('description')}
        label={t('departments.about')}
        defaultValue={department?.description}
        required={false}
        rows={2}
      />
      <Field
        name={name('email')}
        type="email"
        label={t('field.email')}
        help={t('departments.emailHelp')}
        defaultValue={department?.email ?? ''}
        required={false}
        autoComplete="off"
      />
      <Field
        name={name('timezone')}
        label={t('departments.timezone')}
        help={t('departments.timezoneHelp')}
        defaultValue={department?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone}
        autoComplete="off"
      />
      <Fieldset legend={t('departments.hours')} name={name('hours')}>
        <Tick name={name('always')} label={t('departments.always')} isOn={isAlways} onChange={setAlways} />
        {!isAlways && (
          <Text size="sm" c="dimmed">
            {t('departments.hoursHelp')}
          </Text>
        )}
        {!isAlways &&
          weekdays.map((each, nth) => (
            <Field
              key={each}
              name={name(each)}
              label={weekday(nth, language, 'long')}
              defaultValue={spansOf(department?.hours ?? usual, each)}
              required={false}
              autoComplete="off"
            />
          ))}
      </Fieldset>
      <LongField
        name={name('holidays')}
        label={t('departments.holidays')}
        help={t('departments.holidaysHelp')}
        defaultValue={department?.holidays.join('\n')}
        required={false}
        rows={2}
      />
      {ticketPriorities.map((priority) => (
        <Fieldset key={priority} legend={t('departments.targetsOf', { priority: word(priority) })}>
          <SimpleGrid cols={2}>
            {goals.map((goal) => (
              <Field
                key={goal}
                name={name(`targets.${priority}.${goal}`)}
                label={t(`departments.${goal}`)}
                inputMode="numeric"
                defaultValue={department?.targets[priority][goal]?.toString() ?? ''}
                required={false}
                autoComplete="off"
              />
            ))}
          </SimpleGrid>
        </Fieldset>
      ))}
      <Text size="sm" c="dimmed">
        {t('departments.targetsHelp')}
      </Text>
    </>
  );
}

/** What most offices begin with. */
const usual: Hours = weekdays.slice(0, 5).map((name) => ({ day: name, from: '09:00', to: '17:00' }));

function typedDepartment(typed: Values, at: number): Department {
  const given = (field: string) => typed[`${nameAt(at)}.${field}`];
  const minutes = (field: string) => (given(field) === undefined ? null : Number(given(field)));
  const target = (priority: string) => ({
    first_answer_minutes: minutes(`targets.${priority}.first_answer_minutes`),
    solution_minutes: minutes(`targets.${priority}.solution_minutes`),
  });
  return {
    ...{ slug: given('slug') ?? '', name: given('name') ?? '', description: given('description') ?? '' },
    ...{ email: given('email') ?? null, timezone: given('timezone') ?? '' },
    hours: given('always') === undefined ? weekdays.flatMap((name) => spansIn(name, given(name))) : null,
    holidays: (given('holidays') ?? '').split(/[\s,]+/).filter((each) => each !== ''),
    targets: {
      ...{ low: target('low'), medium: target('medium') },
      ...{ high: target('high'), urgent: target('urgent') },
    },
  };
}

/** `9:00-12:00, 13:00–17:30`, as people type it; what is no time is left for the API to refuse. */
function spansIn(name: Hours[number]['day'], text = ''): Hours {
  return text
    .split(',')
    .map((span) => span.trim())
    .filter((span) => span !== '')
    .map((span) => {
      const [from = '', to = ''] = span.split(/\s*[-–]\s*/).map((time) => time.replace(/^\d(?=:)/, '0$&'));
      return { day: name, from, to };
    });
}
