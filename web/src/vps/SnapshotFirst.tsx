import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../data/client.ts';
import { machine, machineSnapshots } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { ActionButton, Refusal, Text } from '../ui/index.ts';

const notYet = { allowed: false, reason: null };

/**
 * A snapshot before what is on the disk is lost. It belongs to the page and not to the dialog: one that was closed and opened
 * again still knows that it is being made. Pending until the machine is seen to be at it or to be done: until then what the
 * API said may be done with the machine is older than the press.
 */
export function useSnapshotFirst(id: number) {
  const queries = useQueryClient();
  const { data: kept, error } = useQuery(machineSnapshots(id));
  const take = useMutation({
    mutationFn: async () => {
      const name = `before-${new Date().toISOString().slice(0, 19).replaceAll(/\D/g, '')}`;
      await client.post('/dashboard/service/{id}/vps/snapshots', { path: { id }, body: { name } });
      return name;
    },
    // The stream tells when it is there.
    onSettled: () => queries.invalidateQueries({ queryKey: ['vps', id] }),
  });
  const taken = kept?.snapshots.find(({ name }) => name === take.data);
  const isPending = take.isPending || (take.isSuccess && (taken === undefined || taken.state === 'creating'));
  return { take, taken, kept, isPending, error: take.error ?? (isPending ? error : null) };
}

interface SnapshotFirstProps {
  id: number;
  first: ReturnType<typeof useSnapshotFirst>;
}

/** Before what is on the disk is lost: one press keeps it, and where that cannot be, it is said why. */
export function SnapshotFirst({ id, first: { take, taken, kept, isPending, error } }: SnapshotFirstProps) {
  const { t } = useText();
  const { data: vps } = useQuery(machine(id));
  if (taken !== undefined)
    return (
      <Text size="sm" role="status">
        {t(
          taken.state === 'creating'
            ? 'snapshots.firstRuns'
            : taken.state === 'ready'
              ? 'snapshots.firstReady'
              : 'snapshots.firstFailed',
          { name: taken.name },
        )}
      </Text>
    );
  const own = kept?.snapshots.filter(({ kind }) => kind === 'snapshot').length ?? 0;
  const isFull = kept !== undefined && own >= kept.limit;
  return (
    <div>
      <ActionButton
        variant="default"
        loading={isPending}
        action={
          isFull
            ? { allowed: false, reason: t('snapshots.full', { limit: kept.limit }) }
            : (vps?.actions.create_snapshot ?? notYet)
        }
        onAct={() => take.mutate()}
      >
        {t('snapshots.first')}
      </ActionButton>
      {isFull && <Text size="sm">{t('snapshots.full', { limit: kept.limit })}</Text>}
      <Refusal error={error} />
    </div>
  );
}
