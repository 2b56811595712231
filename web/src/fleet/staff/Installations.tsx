import type { Schema } from '../../../../client/index.ts';
import { installations } from '../../data/queries/staff/index.ts';
import { bytes } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Group, LinkTo, ListPage, Progress, Stack, Text, useColumns } from '../../ui/index.ts';

type Installation = Schema<'ServerInstallation'>;

/** No event tells how many bytes have come. */
const lookMs = 3_000;
const list = (filter: Parameters<typeof installations>[0]) => ({
  ...installations(filter),
  refetchInterval: lookMs,
  refetchIntervalInBackground: false,
});

const jobs = [
  ...(['dedicated.provision', 'dedicated.return', 'dedicated.reinstall'] as const),
  ...(['dedicated.rescue', 'dedicated.rescueOff', 'dedicated.move'] as const),
] as const;
const wordOf = (job: string) => jobs.find((each) => each === job)?.replace('dedicated.', '');

/** Servers that are being installed, wiped or rescued: how far each is, and what it waits for. */
export function Installations() {
  const { t, language } = useText();
  const columns = useColumns<Installation>(
    [
      'server',
      'task_of_job',
      'step',
      'waits_for',
      'since',
      'heard_at',
      'rack',
      'service_id',
      'tries',
      'links',
    ],
    {
      server: ({ server_id: id, server }) => (
        <LinkTo to="/staff/servers/$id" params={{ id: String(id) }}>
          {server}
        </LinkTo>
      ),
      task_of_job: ({ job }) => {
        const word = wordOf(job);
        return word === undefined ? job : t(`racks.job_${word as 'provision'}`);
      },
      step: (each) => <Step of={each} language={language} />,
      waits_for: ({ waits_for: what, message }) => (
        <Stack gap={2}>
          <Text size="sm">{t(`racks.waits_${what}`)}</Text>
          {message !== null && (
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {message}
            </Text>
          )}
        </Stack>
      ),
      rack: ({ rack_id: id, rack }) =>
        id === null ? (
          '–'
        ) : (
          <LinkTo to="/staff/racks/$id" params={{ id: String(id) }}>
            {rack}
          </LinkTo>
        ),
      service_id: ({ service_id: id }) =>
        id === null ? (
          '–'
        ) : (
          <LinkTo to="/staff/services/$id" params={{ id: String(id) }}>
            {String(id)}
          </LinkTo>
        ),
      links: ({ server_id: id }) => (
        <Group gap="xs">
          <LinkTo to="/staff/servers/$id" params={{ id: String(id) }} hash="console">
            {t('tab.console')}
          </LinkTo>
          <LinkTo to="/staff/servers/$id" params={{ id: String(id) }} hash="log">
            {t('racks.bmcEvents')}
          </LinkTo>
          <LinkTo to="/staff/jobs">{t('staff.jobs')}</LinkTo>
        </Group>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.installations')}
      text={t('racks.installationsText')}
      list={list}
      keyOf={({ job_id: id }) => id}
      columns={columns}
      empty={t('empty.installations')}
    />
  );
}

function Step({
  of: { step, bytes: come, of_bytes: of, disks, wiped },
  language,
}: {
  of: Installation;
  language: 'en' | 'de';
}) {
  const { t } = useText();
  const isWiping = step?.startsWith('wipe ') ?? false;
  const share = of === null || of === 0 || come === null ? null : Math.min(100, (100 * come) / of);
  return (
    <Stack gap={4}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {step ?? '–'}
      </Text>
      {come !== null && of !== null && (
        <Text size="sm" c="dimmed">
          {t('racks.bytesOf', { bytes: bytes(come, language), of: bytes(of, language) })}
        </Text>
      )}
      {share !== null && <Progress value={share} aria-label={step ?? ''} />}
      {isWiping && disks !== null && wiped !== null && (
        <Text size="sm" c="dimmed">
          {t('racks.wipedOf', { wiped: String(wiped), disks: String(disks) })}
        </Text>
      )}
    </Stack>
  );
}
