import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { DataOf, OperationAt } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { useKept } from '../data/kept.ts';
import { rateLimiters, shieldIp } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  ActionMenu,
  Alert,
  Button,
  Confirm,
  Dialog,
  Group,
  LinkButton,
  Refusal,
  Section,
  Sortable,
  Stack,
  Text,
} from '../ui/index.ts';
import { DraftBar } from './DraftBar.tsx';
import { DraftState } from './DraftState.tsx';
import {
  type Draft,
  draftOf,
  isWide,
  largestOrder,
  moved,
  withoutRule,
  withRule,
  withWords,
} from './draft.ts';
import { ChangeRule, DraftedRule, NewRule } from './RuleForm.tsx';
import { GroupRow, RuleRow } from './RuleRow.tsx';
import { type Row, rowsOf, type Shown, shownOf } from './rows.ts';
import './shield.css';
import { usePresetName } from './presetName.ts';
import { useSayRule } from './say.ts';
import { Unmatched } from './Unmatched.tsx';
import { useMayManage } from './useMayManage.ts';
import { type Warning, Warnings } from './Warnings.tsx';

type Found = DataOf<OperationAt<'get', '/shield/v2/ips/{ip}'>>;

/** What becomes of packets to an address: its rules in the order in which they are looked at. */
export function Rules() {
  const { ip } = useParams({ from: '/in/shield/addresses/$ip' });
  const { data: found } = useQuery(shieldIp(ip));
  // What stands above it says why it cannot be read.
  return found === undefined ? null : <RulesOf key={ip} ip={ip} found={found} />;
}

function RulesOf({ ip, found }: { ip: string; found: Found }) {
  const { t } = useText();
  const { address } = found.ip;
  const queries = useQueryClient();
  const say = useSayRule();
  const presetName = usePresetName();
  const mayManage = useMayManage();
  const [draft, setDraft] = useKept<Draft>('rules');
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const [open, setOpen] = useState<'new' | Row | null>(null);
  const [leaving, setLeaving] = useState<Row | null>(null);
  const [warnings, setWarnings] = useState<readonly Warning[]>([]);
  const [isFull, setFull] = useState(false);
  const { data: limiters } = useQuery({
    ...rateLimiters,
    enabled: found.rules.some((rule) => rule.rate_limiter_id !== 0) || draft !== null,
  });
  const readAnew = () => queries.invalidateQueries({ queryKey: ['shield'] });
  const take = async (next: readonly Warning[]) => {
    setWarnings(next);
    setOpen(null);
    await readAnew();
  };
  const turn = useMutation({
    mutationFn: async ({ id, isOn }: { id: number; isOn: boolean }) => {
      const path = { id };
      const { beside } = isOn
        ? await client.whole('patch', '/shield/v2/rules/{id}/enable', { path })
        : await client.whole('patch', '/shield/v2/rules/{id}/disable', { path });
      setWarnings(beside.warnings);
    },
    onSettled: readAnew,
  });
  const remove = useMutation({
    mutationFn: (id: number) => client.delete('/shield/v2/rules/{id}', { path: { id } }),
    onSettled: readAnew,
  });

  const rows = rowsOf(draft, found.rules);
  const shown = shownOf(rows, found.groups, unfolded);
  const change = (next: Draft | null) => {
    setFull(next === null);
    if (next !== null) setDraft(next);
  };
  const move = (from: number, to: number) => {
    const [block, others] = [shown[from], shown.filter((_, nth) => nth !== from)];
    if (block === undefined) return;
    const at = others.slice(0, to).reduce((before, { rows: each }) => before + each.length, 0);
    change(moved(draft ?? draftOf(found.rules), block.at, block.rows.length, at, address));
  };
  const nameOf = ({ group, rows: [row] }: Shown) =>
    group !== null ? presetName(group.preset) : row === undefined ? '' : say.whole(row.said);
  const isFixed = (row: Row) => isWide(row.said, address);
  const limiterOf = ({ said: { rate_limiter_id: id } }: Row) =>
    id === 0 ? null : (limiters?.find((each) => each.id === id)?.name ?? '…');

  const actsOf = (row: Row) => {
    const { key, id, disabled } = row.said;
    // A draft is nobody else's, and a rule for other addresses too is changed where all of them are meant.
    const inDraft = draft !== null && !isFixed(row);
    const action =
      draft !== null && isFixed(row) ? { allowed: false, reason: t('shield.wideStays') } : mayManage;
    const turnTo = () => {
      if (inDraft) setDraft(withWords(draft, key, { disabled: !disabled }));
      else if (id !== null) turn.mutate({ id, isOn: disabled });
    };
    const takeAway = () => (inDraft ? setDraft(withoutRule(draft, key)) : setLeaving(row));
    return (
      <ActionMenu
        label={t('app.actions')}
        actions={[
          { name: t('app.change'), action, onAct: () => setOpen(row) },
          { name: t(disabled ? 'shield.turnOn' : 'shield.turnOff'), action, onAct: turnTo },
          { name: t('app.remove'), action, onAct: takeAway },
        ]}
      />
    );
  };

  return (
    <Stack gap="lg">
      {draft !== null && <DraftState found={found} draft={draft} onDraft={setDraft} />}
      <Warnings warnings={warnings} rules={rows.map(({ said }) => said)} onClose={() => setWarnings([])} />
      <Section
        title={t('shield.rules')}
        aside={
          <>
            {draft === null && (
              <ActionButton
                size="sm"
                variant="default"
                action={mayManage}
                onAct={() => change(draftOf(found.rules))}
              >
                {t('shield.begin')}
              </ActionButton>
            )}
            <ActionButton size="sm" action={mayManage} onAct={() => setOpen('new')}>
              {t('shield.addRule')}
            </ActionButton>
          </>
        }
      >
        <Text size="sm" c="dimmed">
          {t('shield.rulesText')}
        </Text>
        <Refusal error={turn.error ?? remove.error} />
        {isFull && <Alert color="orange">{t('shield.noRoom')}</Alert>}
        {shown.length === 0 ? (
          <Stack align="center" gap="sm" py="lg">
            <Text fw={600}>{t('shield.noRules')}</Text>
            <Text c="dimmed" ta="center">
              {t('shield.noRulesText')}
            </Text>
            <LinkButton to="/shield/addresses/$ip/presets" params={{ ip }} variant="default">
              {t('shield.toPresets')}
            </LinkButton>
          </Stack>
        ) : (
          <Sortable
            label={t('shield.rules')}
            items={shown}
            keyOf={({ key }) => key}
            nameOf={nameOf}
            isMovable={(each) => mayManage.allowed && !each.rows.some(isFixed)}
            onMove={move}
          >
            {(each, handle) => {
              const [row] = each.rows;
              const { group } = each;
              if (group !== null)
                return (
                  <GroupRow
                    ip={ip}
                    shown={{ ...each, group }}
                    handle={handle}
                    onUnfold={() => setUnfolded(new Set([...unfolded, group.id]))}
                  />
                );
              return (
                row !== undefined && (
                  <RuleRow
                    row={row}
                    isWide={isFixed(row)}
                    limiter={limiterOf(row)}
                    handle={handle}
                    acts={actsOf(row)}
                  />
                )
              );
            }}
          </Sortable>
        )}
        {unfolded.size > 0 && (
          <Group>
            <Button size="xs" variant="subtle" onClick={() => setUnfolded(new Set())}>
              {t('shield.foldAll')}
            </Button>
          </Group>
        )}
        <Unmatched ip={found.ip} />
      </Section>
      {draft !== null && (
        <DraftBar
          found={found}
          draft={draft}
          onTried={(tried) => setDraft({ ...draft, tried })}
          onDone={() => setDraft(null)}
          onWarnings={setWarnings}
        />
      )}
      <Dialog
        title={open === 'new' ? t('shield.addRule') : t('shield.changeRule')}
        isOpen={open !== null}
        onClose={() => setOpen(null)}
      >
        {draft !== null && open !== null && (open === 'new' || !isFixed(open)) ? (
          <DraftedRule
            rule={open === 'new' ? null : open.said}
            onDone={(words) => {
              if (open === 'new') change(withRule(draft, { ...words, disabled: false }, address));
              else setDraft(withWords(draft, open.said.key, words));
              setOpen(null);
            }}
          />
        ) : open === 'new' ? (
          <NewRule destination={address} order={orderAfter(found)} onDone={take} />
        ) : (
          open?.said.id != null && <ChangeRule id={open.said.id} onDone={take} />
        )}
      </Dialog>
      <Confirm
        isOpen={leaving !== null}
        title={t('shield.removeAsk')}
        text={leaving === null ? '' : t('shield.removeText', { rule: say.whole(leaving.said) })}
        button={t('app.remove')}
        onClose={() => setLeaving(null)}
        onConfirm={() => {
          if (leaving?.said.id != null) remove.mutate(leaving.said.id);
          setLeaving(null);
        }}
      />
    </Stack>
  );
}

/** Behind all that there are. */
function orderAfter({ rules }: Found): number {
  const last = rules.at(-1)?.order;
  return last === undefined ? 100 : Math.min(largestOrder, last + 10);
}
