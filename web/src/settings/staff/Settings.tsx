import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { updateSettings } from '../../../../client/generated/fields/updateSettings.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf } from '../../data/drawn.ts';
import { fieldOf } from '../../data/fields.ts';
import { useMay } from '../../data/may.ts';
import { settings } from '../../data/queries/staff/index.ts';
import { day } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import type en from '../../text/staff/staff.en.json';
import {
  Button,
  Choice,
  Fact,
  Field,
  Form,
  Page,
  Refusal,
  Rows,
  rowsIn,
  Skeleton,
  Stack,
  Text,
  Tick,
  Unfold,
  useWord,
  type Values,
} from '../../ui/index.ts';

type Settings = Schema<'Settings'>;
/** Those that have a page of their own, which shows more than fields. */
const elsewhere = ['brand', 'support'] as const;
type Area = Exclude<keyof Settings, (typeof elsewhere)[number]>;
type Value = string | number | boolean | null | readonly unknown[];

const isElsewhere = (area: keyof Settings): area is (typeof elsewhere)[number] =>
  (elsewhere as readonly string[]).includes(area);

/** Everything that is decided of how the company runs, an area at a time. */
export function SettingsPage() {
  const { t } = useText();
  const read = useQuery(settings());
  return (
    <Page title={t('staff.settings')}>
      <Text c="dimmed">{t('running.settingsText')}</Text>
      {read.error && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isLoading && <Skeleton height={220} />}
      {read.data !== undefined &&
        (Object.keys(read.data.settings) as (keyof Settings)[])
          .filter((area) => !isElsewhere(area))
          .map((area) => (
            <Unfold key={area} title={t(`area.${area}`)}>
              <AreaForm area={area} />
            </Unfold>
          ))}
    </Page>
  );
}

const valuesOf = (area: Area, { settings }: Schema<'SettingsAnswer'>) =>
  settings[area] as unknown as Record<string, Value>;

function AreaForm({ area }: { area: Area }) {
  const { t } = useText();
  const queries = useQueryClient();
  const may = useMay();
  const [isKept, setKept] = useState(false);
  const [typed, setTyped] = useState<Values>({});
  const save = async (
    typed: Values,
    _files: unknown,
    ifMatch: string | undefined,
    now: Record<string, Value>,
  ) => {
    setKept(false);
    const body = { [area]: readAll(area, now, typed) } as Schema<'SettingsChange'>;
    const made = await client.patch('/staff/settings', { ifMatch, body });
    setKept(true);
    await queries.invalidateQueries({ queryKey: ['staff', 'settings'] });
    return valuesOf(area, made);
  };
  if (!may('updateSettings')) return <Text>{t('staff.notAllowed')}</Text>;
  const remember = ({ target }: { target: EventTarget }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
    const entries = target.form === null ? [] : [...new FormData(target.form)];
    setTyped(
      Object.fromEntries(entries.flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]]))),
    );
  };
  return (
    <div onInput={remember}>
      <Form
        fields={updateSettings}
        submit={t('running.save')}
        of={partOf(drawnOf('/staff/settings'), (now) => valuesOf(area, now))}
        onSubmit={save}
        beside={isKept && <Text role="status">{t('running.saved')}</Text>}
      >
        {(now) =>
          Object.entries(now).map(([name, value]) => (
            <Setting key={name} path={`${area}.${name}`} name={name} value={value} />
          ))
        }
      </Form>
      {area === 'calendar' && <Foreseen typed={typed} />}
    </div>
  );
}

/** What the calendar would do if it were as it was typed; nothing is kept of it. */
function Foreseen({ typed }: { typed: Values }) {
  const { t, language } = useText();
  const word = useWord();
  const look = useMutation({
    mutationFn: () =>
      client.get('/staff/settings').then((now) => {
        const values = valuesOf('calendar', now);
        const calendar = Object.keys(typed).length === 0 ? values : readAll('calendar', values, typed);
        return client.post('/staff/settings/preview', { body: { calendar } as Schema<'PreviewedSettings'> });
      }),
  });
  const counts = Object.entries(look.data?.counts ?? {}).filter(([, count]) => Number(count) > 0);
  return (
    <Stack gap="sm" mt="md">
      <Button
        variant="default"
        loading={look.isPending}
        onClick={() => look.mutate()}
        style={{ alignSelf: 'start' }}
      >
        {t('running.trial')}
      </Button>
      <Refusal error={look.error} />
      {look.data !== undefined && (
        <div role="status">
          <Text size="sm" c="dimmed">
            {t('staff.fromUntil', {
              from: day(look.data.from, language),
              until: day(look.data.until, language),
            })}
          </Text>
          {counts.length === 0 && <Text>{t('staff.nothingComes')}</Text>}
          <div className="facts">
            {counts.map(([step, count]) => (
              <Fact key={step} name={word(step)}>
                {String(count)}
              </Fact>
            ))}
          </div>
        </div>
      )}
    </Stack>
  );
}

function Setting({ path, name, value }: { path: string; name: string; value: Value }) {
  const { t } = useText();
  const word = useWord();
  const label = t(`setting.${name as keyof (typeof en)['setting']}`);
  const words = fieldOf(updateSettings, path)?.choices;
  if (words !== undefined)
    return (
      <Choice
        {...{ name: path, label }}
        defaultValue={String(value)}
        choices={words.map((each) => ({ value: each, label: word(each) }))}
      />
    );
  if (typeof value === 'boolean') return <Tick name={path} label={label} defaultChecked={value} />;
  if (Array.isArray(value)) return <ListSetting path={path} label={label} items={value} />;
  return (
    <Field
      {...{ name: path, label }}
      defaultValue={value?.toString() ?? ''}
      required={false}
      autoComplete="off"
    />
  );
}

/** Lists whose items are more than a line, with the parts of one; also while they are empty. */
const partsOf = { 'calendar.late_fee_amounts': ['currency', 'amount'] } as const;
const isOfParts = (path: string): path is keyof typeof partsOf => path in partsOf;

/** A row for each item; what is wrong with one is said at it. */
function ListSetting({ path, label, items }: { path: string; label: string; items: readonly unknown[] }) {
  const { t } = useText();
  return (
    <Rows legend={label} name={path} items={items} add={t('running.addRow')}>
      {(item, row) =>
        isOfParts(path) ? (
          partsOf[path].map((part) => (
            <Field
              key={part}
              name={`${row}.${part}`}
              label={t(`field.${part}`)}
              defaultValue={(item as Record<string, string> | null)?.[part]}
              autoComplete="off"
            />
          ))
        ) : (
          <Field
            name={row}
            label={label}
            defaultValue={item === null ? undefined : String(item)}
            autoComplete="off"
          />
        )
      }
    </Rows>
  );
}

function readAll(area: Area, values: Record<string, Value>, typed: Values): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, readAs(value, `${area}.${name}`, typed)]),
  );
}

/** What was typed, as the kind of value that the setting is. */
function readAs(before: Value, path: string, values: Values): Value {
  const typed = values[path];
  if (typeof before === 'boolean') return typed !== undefined;
  if (Array.isArray(before)) {
    const rows = rowsIn(values, path);
    return isOfParts(path) ? rows : rows.map((row) => row['']?.trim() ?? '');
  }
  if (typed === undefined) return null;
  return fieldOf(updateSettings, path)?.isNumber !== undefined ? Number(typed) : typed;
}
