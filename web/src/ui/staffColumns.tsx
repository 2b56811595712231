import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { useRouterState } from '@tanstack/react-router';
import { useState } from 'react';
import { columnsAway, putAway } from '../data/columns.ts';
import { useText } from '../text/index.ts';
import type { Column } from './List.tsx';

/** Fewer are not worth a choice: the first one names the row, and stays. */
const leastToChoose = 3;

/** The columns of a list that are shown, as they were chosen in this browser, and what they are chosen by. */
export function useChosenColumns<Item>(columns: readonly Column<Item>[]) {
  const list = useRouterState({ select: ({ location }) => location.pathname.replaceAll(/\d+/g, '$') });
  const [away, setAway] = useState(() => columnsAway(list));
  const toChoose = columns.slice(1).filter(({ id }) => id !== undefined && id !== 'actions');
  const choose = (names: readonly string[]) => {
    putAway(list, names);
    setAway(names);
  };
  const isShown = ({ id = '' }: Column<Item>) =>
    !toChoose.some((each) => each.id === id && away.includes(id));
  return {
    shown: columns.filter(isShown),
    choice: toChoose.length < leastToChoose ? null : <Choice of={toChoose} away={away} onChoose={choose} />,
  };
}

interface ChoiceProps {
  of: readonly { id?: string; name: string }[];
  away: readonly string[];
  onChoose: (away: readonly string[]) => void;
}

function Choice({ of, away, onChoose }: ChoiceProps) {
  const { t } = useText();
  const turn = (id: string, isShown: boolean) =>
    onChoose(isShown ? away.filter((each) => each !== id) : [...away, id]);
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" rightSection={<span aria-hidden>▾</span>}>
          {t('staff.columns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('staff.columns')}>
        <Stack gap="xs">
          {of.map(({ id = '', name }) => (
            <Checkbox
              key={id}
              label={name}
              checked={!away.includes(id)}
              onChange={({ currentTarget: { checked } }) => turn(id, checked)}
            />
          ))}
          {away.length > 0 && (
            <Button variant="default" size="xs" onClick={() => onChoose([])}>
              {t('staff.allColumns')}
            </Button>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
