import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { DataOf, OperationAt } from '../../../client/index.ts';
import { shieldApply } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Alert, Button, Group, Text } from '../ui/index.ts';
import { type Draft, draftOf, isBehind, rebased } from './draft.ts';

interface DraftStateProps {
  found: DataOf<OperationAt<'get', '/shield/v2/ips/{ip}'>>;
  draft: Draft;
  onDraft: (draft: Draft | null) => void;
}

/** How a draft stands: that nothing of it is in force, what became of it when it was tried out, whether others were quicker. */
export function DraftState({ found, draft, onDraft }: DraftStateProps) {
  const { t } = useText();
  const isTried = draft.tried !== null && found.trial?.id === draft.tried;
  const { data: tried } = useQuery({
    ...shieldApply(draft.tried ?? 0),
    enabled: draft.tried !== null && !isTried,
  });
  const isKept = tried?.id === draft.tried && tried?.state === 'confirmed';
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was kept is no draft any more
  useEffect(() => {
    if (isKept) onDraft(null);
  }, [isKept]);
  if (isKept) return null;
  const state = tried?.id === draft.tried ? tried?.state : undefined;
  return (
    <>
      {state === 'over' || state === 'cancelled' || state === 'superseded' ? (
        <Alert color="orange" title={t(`shield.tried_${state}`)} role="status">
          {t('shield.triedStays')}
        </Alert>
      ) : (
        <Alert color="blue" title={t(isTried ? 'shield.draftTried' : 'shield.draft')}>
          <Text size="sm">{t(isTried ? 'shield.draftTriedText' : 'shield.draftText')}</Text>
        </Alert>
      )}
      {isBehind(draft, found.rules) && !isTried && (
        <Alert color="orange" title={t('shield.behind')}>
          <Text size="sm">{t('shield.behindText')}</Text>
          <Group gap="xs" mt="xs">
            <Button size="xs" variant="default" onClick={() => onDraft(draftOf(found.rules))}>
              {t('shield.beginAgain')}
            </Button>
            <Button size="xs" variant="default" onClick={() => onDraft(rebased(draft, found.rules))}>
              {t('shield.keepDraft')}
            </Button>
          </Group>
        </Alert>
      )}
    </>
  );
}
