import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { DataOf, OperationAt } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { useText } from '../text/index.ts';
import { ActionButton, AsCode, Button, Confirm, Dialog, Group, Paper, Text } from '../ui/index.ts';
import { ApplyForm } from './ApplyForm.tsx';
import { DraftRefusal } from './DraftRefusal.tsx';
import { bodyOf, type Draft, differenceOf, isChanging, removedBy, sentOf } from './draft.ts';
import { Simulation } from './Simulation.tsx';
import { useMayManage } from './useMayManage.ts';
import type { Warning } from './Warnings.tsx';

interface DraftBarProps {
  found: DataOf<OperationAt<'get', '/shield/v2/ips/{ip}'>>;
  draft: Draft;
  onTried: (apply: number) => void;
  /** It is in force, or nobody wants it any more. */
  onDone: () => void;
  onWarnings: (warnings: readonly Warning[]) => void;
}

/** What is done with a draft, always in view: tried on what has come, put in force, or given up. */
export function DraftBar({ found, draft, onTried, onDone, onWarnings }: DraftBarProps) {
  const { t } = useText();
  const queries = useQueryClient();
  const mayManage = useMayManage();
  const [asked, setAsked] = useState<'apply' | 'discard' | null>(null);
  const { address } = found.ip;
  // As if it were tried out: then it is no refusal that it would shut out whoever asks, and a warning says so.
  const ask = () =>
    client.whole('post', '/shield/v2/rules/simulate', {
      body: { ...bodyOf(draft, address), confirm_within_s: 60 },
    });
  const simulate = useMutation({
    mutationFn: async () => {
      const { data, beside } = await ask();
      onWarnings(beside.warnings);
      return { data, draft };
    },
  });
  const isTried = found.trial !== null && found.trial.id === draft.tried;
  const nothing = { allowed: false, reason: t('shield.draftSame') };
  const mayApply = mayManage.allowed && !isChanging(draft, found.rules) ? nothing : mayManage;
  return (
    <>
      {simulate.data !== undefined && (
        <div className={simulate.data.draft === draft ? undefined : 'aging'}>
          <Simulation
            simulated={simulate.data.data}
            rules={sentOf(simulate.data.draft, address)}
            isOld={simulate.data.draft !== draft}
          />
        </div>
      )}
      <Paper component="section" aria-label={t('shield.draftBar')} withBorder p="sm" className="draft-bar">
        <Text size="sm" fw={600}>
          <Changes draft={draft} found={found} />
        </Text>
        <DraftRefusal error={simulate.error} draft={draft} address={address} />
        <Group gap="xs">
          <ActionButton
            size="sm"
            variant="default"
            loading={simulate.isPending}
            action={{ allowed: true, reason: null }}
            onAct={() => simulate.mutate()}
          >
            {t('shield.simulate')}
          </ActionButton>
          {!isTried && (
            <ActionButton size="sm" action={mayApply} onAct={() => setAsked('apply')}>
              {t('shield.apply')}
            </ActionButton>
          )}
          <Button size="sm" variant="subtle" color="gray" onClick={() => setAsked('discard')}>
            {t('shield.discard')}
          </Button>
          <AsCode act={ask} />
        </Group>
      </Paper>
      <Dialog title={t('shield.apply')} isOpen={asked === 'apply'} onClose={() => setAsked(null)}>
        <ApplyForm
          draft={draft}
          address={address}
          onDone={async ({ apply_id: id, confirm_until: until }, warnings) => {
            setAsked(null);
            onWarnings(warnings);
            if (until === null) onDone();
            else onTried(id);
            await queries.invalidateQueries({ queryKey: ['shield'] });
            // Where what is tried out says how long it is.
            if (until !== null) window.scrollTo({ top: 0 });
          }}
        />
      </Dialog>
      <Confirm
        isOpen={asked === 'discard'}
        title={t('shield.discardAsk')}
        text={t('shield.discardText')}
        button={t('shield.discard')}
        onClose={() => setAsked(null)}
        onConfirm={onDone}
      />
    </>
  );
}

/** How many rules are new, changed, moved and gone. */
function Changes({ draft, found }: Pick<DraftBarProps, 'draft' | 'found'>) {
  const { t } = useText();
  const differences = draft.rules.map((rule) => differenceOf(rule, found.rules));
  const counts = (['new', 'changed', 'moved'] as const).map(
    (name) => [name, differences.filter((each) => each === name).length] as const,
  );
  const all = [...counts, ['removed', removedBy(draft, found.rules).length] as const].filter(
    ([, count]) => count > 0,
  );
  if (all.length === 0) return t('shield.draftSame');
  return all.map(([name, count]) => t(`shield.count_${name}`, { count })).join(' · ');
}
