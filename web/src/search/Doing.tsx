import { useMutation, useQuery } from '@tanstack/react-query';
import { client } from '../data/client.ts';
import { type Find, machine, queryClient } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { ActionButton, Group, Refusal, Skeleton, Stack, Text } from '../ui/index.ts';
import type { Command } from './wish.ts';

interface DoingProps {
  command: Command;
  service: Find;
  onDone: () => void;
}

/** Asks once before something is done with a machine, and says why when it cannot be. */
export function Doing({ command, service, onDone }: DoingProps) {
  const { t } = useText();
  const id = Number(service.id);
  const read = useQuery(machine(id));
  const act = useMutation({
    mutationFn: () => client.post(`/dashboard/service/{id}/vps/${command}`, { path: { id }, body: {} }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['vps'] });
      onDone();
    },
  });
  return (
    <Stack>
      <Text style={{ overflowWrap: 'anywhere' }}>
        {t('palette.sure', { command: t(`command.${command}`), name: service.title })}
      </Text>
      <Refusal error={read.error ?? act.error} />
      {read.isPending && <Skeleton height={36} />}
      {read.data && (
        <Group justify="end">
          <ActionButton
            action={read.data.actions[command]}
            onAct={() => act.mutate()}
            loading={act.isPending}
            color={command === 'start' ? undefined : 'red'}
            data-autofocus
          >
            {t(`command.${command}`)}
          </ActionButton>
        </Group>
      )}
    </Stack>
  );
}
