import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { queryClient, session } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { ActionButton, ConfirmByName, NativeSelect, Refusal, Section, Text } from '../ui/index.ts';

/** Makes a service another organization's. */
export function Move({ owned }: { owned: Schema<'Service'> }) {
  const { t } = useText();
  const navigate = useNavigate();
  const { data: signedIn } = useQuery(session);
  const others = signedIn?.organizations.filter(({ id }) => id !== signedIn.organization?.id) ?? [];
  const [chosen, setChosen] = useState<number | null>(null);
  const [isAsked, setAsked] = useState(false);
  const target = others.find(({ id }) => id === chosen) ?? others[0];
  const name = owned.hostname ?? owned.domain ?? t('services.untitled', { id: owned.id });
  const move = useMutation({
    mutationFn: (organization_id: number) =>
      client.post('/dashboard/services/{id}/move', { path: { id: owned.id }, body: { organization_id } }),
    onSuccess: async () => {
      await navigate({ to: '/services' });
      await queryClient.invalidateQueries();
    },
  });
  if (target === undefined)
    return (
      <Section title={t('contract.move')}>
        <Text c="dimmed">{t('contract.noOther')}</Text>
      </Section>
    );
  return (
    <Section title={t('contract.move')}>
      <Text size="sm" c="dimmed">
        {t('contract.moveText')}
      </Text>
      <NativeSelect
        label={t('contract.moveTo')}
        value={String(target.id)}
        onChange={(event) => setChosen(Number(event.currentTarget.value))}
        data={others.map((each) => ({ value: String(each.id), label: each.name }))}
      />
      <Refusal error={move.error} />
      <div>
        <ActionButton
          variant="default"
          action={owned.actions.move}
          loading={move.isPending}
          onAct={() => setAsked(true)}
        >
          {t('contract.moveButton')}
        </ActionButton>
      </div>
      <ConfirmByName
        isOpen={isAsked}
        title={t('contract.moveAsk', { name, organization: target.name })}
        text={t('contract.moveText')}
        button={t('contract.moveButton')}
        name={name}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          move.mutate(target.id);
        }}
      />
    </Section>
  );
}
