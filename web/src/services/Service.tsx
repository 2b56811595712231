import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { service } from '../data/queries/index.ts';
import { day, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Alert, Fact, Page, Refusal, Section, SimpleGrid, Skeleton, State, Text } from '../ui/index.ts';
import { Machine } from '../vps/Machine.tsx';

/** A service, and the machine that it is. */
export function Service() {
  const { t, language } = useText();
  const { id } = useParams({ from: '/in/services/$id' });
  const read = useQuery(service(Number(id)));
  const { data: found } = read;
  const name = found?.hostname ?? found?.domain ?? t('services.untitled', { id });
  if (found === undefined)
    return (
      <Page title={name}>
        {read.error ? (
          <Refusal error={read.error} onRetry={() => void read.refetch()} />
        ) : (
          <Skeleton height={220} />
        )}
      </Page>
    );
  return (
    <Page title={name} aside={found.status !== 'active' && <State of={found.status} />}>
      {found.provisioning_state === 'failed' && <Alert color="orange">{t('machine.notBuilt')}</Alert>}
      {found.waiting.length > 0 && (
        <Alert color="blue" title={t('machine.waits')}>
          {found.waiting.map((each) => (
            <Text key={each.for} size="sm">
              {each.message}
            </Text>
          ))}
        </Alert>
      )}
      {found.suspend_reason !== null && <Alert color="red">{found.suspend_reason}</Alert>}
      {found.type === 'vps' && (found.status === 'active' || found.status === 'suspended') && (
        <Machine id={found.id} />
      )}
      <Section title={found.product.name}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
          <Fact name={t('billing.price')}>{money(found.price, found.currency, language)}</Fact>
          <Fact name={t('services.due')}>
            {found.duedate === null ? t('services.noPayment') : day(found.duedate, language)}
          </Fact>
          <Fact name={t('billing.created')}>{day(found.created_at, language)}</Fact>
          <Fact name={t('services.status')}>{t(`status.${found.status}`)}</Fact>
        </SimpleGrid>
      </Section>
    </Page>
  );
}
