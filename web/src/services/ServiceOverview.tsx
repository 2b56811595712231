import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { service } from '../data/queries/index.ts';
import { Erasure } from '../dedicated/Erasure.tsx';
import { Server } from '../dedicated/Server.tsx';
import { day, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Fact, Section, SimpleGrid, Stack, Text } from '../ui/index.ts';
import { Machine } from '../vps/Machine.tsx';

/** The first page of a service, and of the machine or server that it may be. */
export function ServiceOverview() {
  const { t, language } = useText();
  const { id } = useParams({ from: '/in/services/$id' });
  const { data: found } = useQuery(service(Number(id)));
  if (found === undefined) return null;
  const isThere = found.status === 'active' || found.status === 'suspended';
  return (
    <Stack gap="lg">
      {found.type === 'vps' && isThere && <Machine id={found.id} />}
      {found.on_server && isThere && <Server id={found.id} />}
      {found.on_server && found.status === 'terminated' && <Erasure id={found.id} />}
      <Section title={found.product.name}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
          <Fact name={t('billing.price')}>{money(found.price, found.currency, language)}</Fact>
          {found.status !== 'terminated' && (
            <Fact name={t('services.due')}>
              {found.duedate === null ? t('services.noPayment') : day(found.duedate, language)}
            </Fact>
          )}
          <Fact name={t('billing.created')}>{day(found.created_at, language)}</Fact>
          <Fact name={t('services.status')}>{t(`status.${found.status}`)}</Fact>
        </SimpleGrid>
        {found.note !== null && (
          <Fact name={t('services.note')}>
            <Text className="message">{found.note}</Text>
          </Fact>
        )}
      </Section>
    </Stack>
  );
}
