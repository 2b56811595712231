import { useMutation, useQuery } from '@tanstack/react-query';
import { ApiError } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { serverErasure } from '../data/queries/index.ts';
import { saveFile } from '../data/saveFile.ts';
import { bytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Button, Group, List, Refusal, Section, Skeleton, Text } from '../ui/index.ts';

const methods = [
  ...(['sanitize-block', 'sanitize-crypto', 'format-crypto', 'format-user-data'] as const),
  'sanitize-overwrite' as const,
  ...(['ata-enhanced', 'ata', 'overwrite'] as const),
] as const;
const isMethod = (method: string | null): method is (typeof methods)[number] =>
  methods.some((each) => each === method);

/** The text that says how a disk was wiped; null: of a way that nobody here knows. */
export function methodWord(method: string | null) {
  return isMethod(method) ? (`server.method_${method}` as const) : null;
}

/** How the disks of a server were wiped whose service has ended, to read and to keep. */
export function Erasure({ id }: { id: number }) {
  const { t, language } = useText();
  const { data, error, refetch } = useQuery(serverErasure(id));
  const fetchPdf = useMutation({
    mutationFn: async () =>
      saveFile(
        await client.file('/dashboard/service/{id}/dedicated/erasure/pdf', {
          path: { id },
          query: { language },
        }),
        `erasure-${id}.pdf`,
      ),
  });
  if (data === undefined && error === null) return <Skeleton height={160} />;
  const isPending = error instanceof ApiError && error.code === 'conflict';
  return (
    <Section title={t('server.erasure')}>
      {isPending && <Text>{t('server.erasurePending')}</Text>}
      {error !== null && !isPending && <Refusal error={error} onRetry={() => void refetch()} />}
      {data !== undefined && (
        <>
          <Text>{t('server.erased', { time: moment(data.erasure.ended_at, language) })}</Text>
          <List
            label={t('server.disks')}
            items={data.erasure.disks}
            keyOf={({ serial }) => serial}
            error={null}
            onRetry={() => undefined}
            empty={<Text>{t('server.noDisks')}</Text>}
            columns={[
              { name: t('server.disk'), cell: ({ model }) => model ?? '–' },
              { name: t('server.serial'), cell: ({ serial }) => serial },
              {
                name: t('server.method'),
                cell: ({ method }) => (isMethod(method) ? t(`server.method_${method}`) : (method ?? '–')),
              },
              { name: t('server.size'), isNumber: true, cell: (disk) => bytes(disk.bytes, language) },
            ]}
          />
          <Refusal error={fetchPdf.error} />
          <Group>
            <Button variant="default" loading={fetchPdf.isPending} onClick={() => fetchPdf.mutate()}>
              {t('server.erasurePdf')}
            </Button>
          </Group>
        </>
      )}
    </Section>
  );
}
