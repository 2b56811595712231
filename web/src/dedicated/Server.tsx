import { useQuery } from '@tanstack/react-query';
import { client } from '../data/client.ts';
import { server } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Fact, LinkTo, Section, Skeleton, Stack } from '../ui/index.ts';
import { Actions } from '../vps/History.tsx';
import { Connect } from '../vps/Machine.tsx';
import { Credentials } from './Credentials.tsx';

/** The first page of a server: how to get in, how it was heard of, and what was done last. */
export function Server({ id }: { id: number }) {
  const { t, language } = useText();
  const { data: found, error } = useQuery(server(id));
  // What stands above it says why it cannot be read.
  if (found === undefined) return error ? null : <Skeleton height={320} />;
  const { state, heard_at: heardAt } = found.power;
  return (
    <Stack gap="lg">
      <Connect
        ips={found.ips}
        system={[found.os.name ?? found.os.slug, found.os.version].filter(Boolean).join(' ')}
        location={found.location}
        act={() => client.get('/dashboard/service/{id}/dedicated/overview', { path: { id } })}
      >
        {found.system !== null && (
          <Fact name={t('server.model')}>
            {[found.system.vendor, found.system.product].filter(Boolean).join(' ')}
          </Fact>
        )}
        <Fact name={t('server.power')}>
          {state === null ? t('server.power_unknown') : t(`server.power_${state}`)}
          {heardAt !== null && ` · ${t('server.heard', { time: moment(heardAt, language) })}`}
        </Fact>
      </Connect>
      {found.actions.console.code !== 'permission_denied' && <Credentials id={id} />}
      <Section
        title={t('machine.history')}
        aside={
          <LinkTo to="/services/$id/history" params={{ id: String(id) }}>
            {t('machine.wholeHistory')}
          </LinkTo>
        }
      >
        <Actions id={id} few />
      </Section>
    </Stack>
  );
}
