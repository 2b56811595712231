import { updateProduct } from '../../../../client/generated/fields/updateProduct.ts';
import type { Schema } from '../../../../client/index.ts';
import { useText } from '../../text/index.ts';
import { trafficTerms } from '../../text/trafficTerms.ts';
import { Act, Named, NamedChoice, Section, Text } from '../../ui/index.ts';
import { changeProduct } from './Having.tsx';

type Product = Schema<'StaffProduct'>;
type Terms = Schema<'NewTrafficTerms'>;

/** How the traffic of a server is billed beyond what its price includes. */
export function Traffic({ of: product }: { of: Product }) {
  const { t, language } = useText();
  const { traffic } = product;
  const named = (each: string) => ({ value: each, label: t(`money.traffic_${each as Terms['billing']}`) });
  return (
    <Section title={t('money.traffic')}>
      <Text>{traffic === null ? t('money.trafficFree') : trafficTerms(traffic, t, language)}</Text>
      <Act
        operation="updateProduct"
        fields={updateProduct}
        label={t('money.setTraffic')}
        text={t('money.setTrafficText')}
        onAct={(values) => changeProduct(product.id, { traffic: termsIn(values) })}
      >
        <NamedChoice
          name="billing"
          as="traffic.billing"
          isOptional
          of={['total', 'percentile95'].map(named)}
          value={traffic?.billing ?? ''}
        />
        <Named name="included" as="traffic.included" isOptional value={traffic?.included} />
        <Named name="price" as="traffic.price" isOptional value={traffic?.price} />
        <NamedChoice
          name="direction"
          as="traffic.direction"
          isOptional
          of={['greater', 'in', 'out'].map(named)}
          value={traffic?.direction ?? ''}
        />
      </Act>
    </Section>
  );
}

function termsIn(values: Partial<Record<string, string>>): Terms | null {
  const { 'traffic.billing': billing, 'traffic.direction': direction } = values;
  if (!billing) return null;
  return {
    billing: billing as Terms['billing'],
    included: Number(values['traffic.included'] ?? 0),
    price: values['traffic.price'] ?? '0',
    ...(direction && billing === 'percentile95' && { direction: direction as 'greater' }),
  };
}
