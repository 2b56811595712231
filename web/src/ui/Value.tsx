import { Text } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { day, moment, money, month } from '../text/formats.ts';
import { isText, useText } from '../text/index.ts';
import type en from '../text/staff/staff.en.json';
import { Fact } from './Fact.tsx';
import { LinkTo } from './LinkTo.tsx';
import type { Column } from './List.tsx';
import { State, type StateName } from './State.tsx';

export type FieldName = keyof (typeof en)['field'];

/** Names of fields whose text is an amount in the `currency` beside it. */
const amounts = new Set([
  ...[
    'amount',
    'unclear',
    'price_before',
    'price_after',
    'total',
    'subtotal',
    'tax',
    'price',
    'amount_due',
    'amount_paid',
    'credited',
    'refunded',
    'fee',
  ],
  ...[
    'net',
    'tax_due',
    'ledger',
    'difference',
    'returned_net',
    'returned_tax',
    'taxable',
    'unit_price',
    'setup_fee',
  ],
]);
/** Longer ones are broken, so that a table never gets wider than its page. */
const longestWord = /^\S{1,18}$/;
const states = new Set(['status', 'state', 'provisioning_state']);

/** The word for a state or a kind, in the language of whoever looks; one that is not known stays as the API says it. */
export function useWord(): (value: string) => string {
  const { t } = useText();
  return (value) => {
    if (isText(`status.${value}`)) return t(`status.${value as StateName}`);
    if (isText(`word.${value}`)) return t(`word.${value as keyof (typeof en)['word']}`);
    return value;
  };
}

/** Shows what the API says of a thing by the name of its field: amounts, days, moments, states, names. */
export function useShow(): (item: object, name: string) => ReactNode {
  const { t, language } = useText();
  const word = useWord();
  const show = (value: unknown, name: string, currency: string | null): ReactNode => {
    if (value === null || value === undefined || value === '') return '–';
    if (typeof value === 'boolean') return t(value ? 'staff.yes' : 'staff.no');
    if (name === 'organization_id') return <Linked to="/staff/organizations/$id" id={value} />;
    if (name === 'invoice_id') return <Linked to="/staff/invoices/$id" id={value} />;
    if (name === 'service_id') return <Linked to="/staff/services/$id" id={value} />;
    if (typeof value === 'number') return name.endsWith('id') ? value : value.toLocaleString(language);
    if (Array.isArray(value))
      return value.length === 0
        ? '–'
        : value.map((each, index) => (
            <Fragment key={JSON.stringify(each)}>
              {index > 0 && ', '}
              {show(each, name, currency)}
            </Fragment>
          ));
    if (typeof value === 'object') {
      const { id, name: called, email } = value as { id?: number; name?: string; email?: string };
      if (name === 'organization' && id !== undefined && called !== undefined)
        return (
          <Linked to="/staff/organizations/$id" id={id}>
            {called}
          </Linked>
        );
      return called ?? email ?? JSON.stringify(value);
    }
    const text = String(value);
    if (amounts.has(name)) return money(text, currency, language);
    if (/^\d{4}-\d\d-\d\dT/.test(text)) return <Whole>{moment(text, language)}</Whole>;
    if (name === 'month' && /^\d{4}-\d\d$/.test(text)) return <Whole>{month(text, language)}</Whole>;
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return <Whole>{day(text, language)}</Whole>;
    if (states.has(name) && isText(`status.${text}`)) return <State of={text as StateName} />;
    const shown = word(text);
    return longestWord.test(shown) ? <Whole>{shown}</Whole> : shown;
  };
  return (item, name) => {
    const { [name]: value, currency = null } = item as Record<string, unknown>;
    return show(value, name, typeof currency === 'string' ? currency : null);
  };
}

interface LinkedProps {
  to: '/staff/organizations/$id' | '/staff/invoices/$id' | '/staff/services/$id';
  id: unknown;
  children?: ReactNode;
}

/** Something that has a page of staff's. */
function Linked({ to, id, children }: LinkedProps) {
  return (
    <LinkTo to={to} params={{ id: String(id) }}>
      {children ?? String(id)}
    </LinkTo>
  );
}

/** What is not broken into lines where there is room for it. */
function Whole({ children }: { children: string }) {
  return <span className="whole">{children}</span>;
}

type Cells<Item> = Partial<Record<FieldName, (item: Item) => ReactNode>>;
export type Described<Item> = (keyof Item & FieldName) | FieldName;

/** Columns of a list by the names of fields; `cells` says what is shown otherwise. */
export function useColumns<Item extends object>(
  names: readonly FieldName[],
  cells: Cells<Item> = {},
): readonly Column<Item>[] {
  const { t } = useText();
  const show = useShow();
  return names.map((name) => ({
    id: name,
    name: t(`field.${name}`),
    isNumber: amounts.has(name),
    cell: (item) => cells[name]?.(item) ?? show(item, name),
  }));
}

interface FactsProps<Item> {
  of: Item;
  names: readonly FieldName[];
  cells?: Cells<Item>;
}

/** Facts of one thing by the names of its fields. */
export function Facts<Item extends object>({ of, names, cells = {} }: FactsProps<Item>) {
  const { t } = useText();
  const show = useShow();
  return (
    <div className="facts">
      {names.map((name) => (
        <Fact key={name} name={t(`field.${name}`)}>
          {cells[name]?.(of) ?? show(of, name)}
        </Fact>
      ))}
    </div>
  );
}

/** Text that somebody wrote: as it was written, nothing in it is markup. */
export function Written({ children }: { children: string }) {
  return <Text className="message">{children}</Text>;
}
