import { Button, Group } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useText } from '../text/index.ts';
import { Fieldset } from './Fieldset.tsx';

interface RowsProps<Item> {
  legend: string;
  /** Of the list in the request; what is wrong with a row lands at its fields, `name[2].label`. */
  name: string;
  items: readonly Item[];
  /** How many there may be. */
  most?: number;
  /** What the button says that adds one. */
  add: string;
  /** The fields of a row; `null` is a new one. Their names begin with `at`. */
  children: (item: Item | null, at: string) => ReactNode;
}

/** A list in a form: rows are added, removed and moved, and what was typed into them goes with them. */
export function Rows<Item>({ legend, name, items, most = 100, add, children }: RowsProps<Item>) {
  const { t } = useText();
  const [rows, setRows] = useState(() => items.map((item, id) => ({ id, item: item as Item | null })));
  const next = useRef(items.length);
  const list = useRef<HTMLDivElement>(null);
  const wanted = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the rows is one of what is typed.
  useEffect(() => {
    if (wanted.current === null) return;
    list.current?.querySelector<HTMLElement>(wanted.current)?.focus();
    wanted.current = null;
    list.current?.dispatchEvent(new Event('input', { bubbles: true }));
  }, [rows]);
  const change = (to: typeof rows, focus: string) => {
    wanted.current = focus;
    setRows(to);
  };
  const move = (from: number, to: number) => {
    const [row, others] = [rows[from], rows.filter((_, nth) => nth !== from)];
    if (row === undefined) return;
    const way = to < from ? 'up' : 'down';
    // At an end its button is gone from under the finger; the other way is left.
    const isAtEnd = to === 0 || to === rows.length - 1;
    const focus = isAtEnd ? (way === 'up' ? 'down' : 'up') : way;
    change([...others.slice(0, to), row, ...others.slice(to)], `[data-row="${row.id}"] [data-do=${focus}]`);
  };
  return (
    <Fieldset legend={legend} name={name}>
      <div className="row-list" ref={list}>
        {rows.map(({ id, item }, nth) => {
          const called = t('app.nthOf', { nth: nth + 1, list: legend });
          const button = (
            what: 'up' | 'down' | 'remove',
            sign: string,
            onClick: () => void,
            isOff = false,
          ) => (
            <Button
              type="button"
              size="compact-sm"
              variant="subtle"
              color="gray"
              data-do={what}
              disabled={isOff}
              aria-label={`${t(`app.${what}`)}: ${called}`}
              onClick={onClick}
            >
              {sign}
            </Button>
          );
          return (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset in each row would draw a frame around each.
            <div key={id} role="group" aria-label={called} className="row-edit" data-row={id}>
              {children(item, `${name}[${nth}]`)}
              <Group gap={0} wrap="nowrap" className="row-acts">
                {rows.length > 1 && button('up', '↑', () => move(nth, nth - 1), nth === 0)}
                {rows.length > 1 && button('down', '↓', () => move(nth, nth + 1), nth === rows.length - 1)}
                {button('remove', '✕', () =>
                  change(
                    rows.filter((row) => row.id !== id),
                    '[data-do=add]',
                  ),
                )}
              </Group>
            </div>
          );
        })}
        <Button
          type="button"
          size="xs"
          variant="default"
          data-do="add"
          disabled={rows.length >= most}
          onClick={() => {
            const id = next.current++;
            change([...rows, { id, item: null }], `[data-row="${id}"] :is(input, select, textarea)`);
          }}
        >
          {add}
        </Button>
      </div>
    </Fieldset>
  );
}

/** What was typed into rows, in their order: `pages[0].url` is `url` of the first one of `pages`. */
export function rowsIn(values: Readonly<Record<string, string>>, name: string): Record<string, string>[] {
  const rows: Record<string, string>[] = [];
  for (const [field, value] of Object.entries(values)) {
    if (!field.startsWith(`${name}[`)) continue;
    const [nth = '', part = ''] = field.slice(name.length + 1).split(/\]\.?/, 2);
    const row = rows[Number(nth)] ?? {};
    rows[Number(nth)] = { ...row, [part]: value };
  }
  // A row with nothing in it is none.
  return rows.filter((row) => row !== undefined);
}
