import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { useText } from '../text/index.ts';
import { ActionButton, Confirm, Refusal } from '../ui/index.ts';
import { useSayRule } from './say.ts';
import { useMayManage } from './useMayManage.ts';

/** Below all rules: what becomes of packets that none of them matches. */
export function Unmatched({ ip: { address, unmatched } }: { ip: Schema<'ShieldIp'> }) {
  const { t } = useText();
  const queries = useQueryClient();
  const say = useSayRule();
  const mayManage = useMayManage();
  const [isAsked, setAsked] = useState(false);
  const other = unmatched === 'permit' ? 'deny' : 'permit';
  const turn = useMutation({
    mutationFn: () => client.patch('/shield/v2/ips', { body: { address, unmatched: other } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['shield'] }),
  });
  return (
    <div className="rule unmatched">
      <div className="rule-handle" />
      <div className="rule-words">
        <p>
          <b data-action={unmatched}>{say.action(unmatched)}</b> {t('shield.unmatchedIs')}
        </p>
        <Refusal error={turn.error} />
      </div>
      <div className="rule-acts">
        <ActionButton
          size="xs"
          variant="default"
          action={mayManage}
          loading={turn.isPending}
          onAct={() => setAsked(true)}
        >
          {t(`shield.unmatchedTo_${other}`)}
        </ActionButton>
      </div>
      <Confirm
        isOpen={isAsked}
        title={t(`shield.unmatchedTo_${other}`)}
        text={t(`shield.unmatchedText_${other}`)}
        button={t(`shield.unmatchedTo_${other}`)}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          turn.mutate();
        }}
      />
    </div>
  );
}
