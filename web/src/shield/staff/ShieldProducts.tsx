import { updateShieldProduct } from '../../../../client/generated/fields/updateShieldProduct.ts';
import type { BodyOf, OperationAt, Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { choicesOf } from '../../data/fields.ts';
import { shieldProducts } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Choice, ListPage, Text, useColumns, type Values } from '../../ui/index.ts';
import '../shield.css';
import { kinds, ThresholdFields, thresholdsIn, units } from '../Thresholds.tsx';
import { useRates } from '../useRates.ts';

type Product = Schema<'ShieldProduct'>;
type Change = BodyOf<OperationAt<'patch', '/staff/shield/products/{id}'>>;

/** From where on traffic to machines of each product is an attack, and what is done about it, until their owners say otherwise. */
export function ShieldProducts() {
  const { t } = useText();
  const { inSecond, bitsInSecond } = useRates();
  const usual = t('edges.asForAll');
  const thresholdsOf = ({ thresholds }: Product) =>
    kinds.flatMap((kind) => {
      const { pps = null, mbps = null } = thresholds[kind] ?? {};
      const rates = [pps !== null && inSecond(pps), mbps !== null && bitsInSecond(mbps * 1e6)].filter(
        Boolean,
      );
      return rates.length === 0 ? [] : [`${t(`shield.kind_${kind}`)}: ${rates.join(' · ')}`];
    });
  const columns = useColumns<Product>(['name', 'level', 'mode', 'mitigation', 'thresholds', 'actions'], {
    level: ({ level }) => (level === null ? usual : t(`shield.level_${level}`)),
    mode: ({ mode }) => (mode === null ? usual : t(`shield.mode_${mode}`)),
    mitigation: ({ mitigation }) => (mitigation === null ? usual : t(`shield.mitigation_${mitigation}`)),
    thresholds: (product) => {
      const own = thresholdsOf(product);
      if (own.length === 0) return usual;
      // One thing for the cell: on a phone what is in one stands side by side.
      return (
        <div>
          {own.map((each) => (
            <div key={each}>{each}</div>
          ))}
        </div>
      );
    },
    actions: ({ id }) => (
      <Act
        operation="updateShieldProduct"
        fields={updateShieldProduct}
        label={t('support.change')}
        of={drawnOf('/staff/shield/products/{id}', { path: { id } })}
        onAct={(values, _files, ifMatch) =>
          client.patch('/staff/shield/products/{id}', { ifMatch, path: { id }, body: changeIn(values) })
        }
      >
        {({ product }) => <ProductFields now={product} />}
      </Act>
    ),
  });
  return (
    <ListPage
      title={t('staff.shieldProducts')}
      empty={t('empty.shieldProducts')}
      list={shieldProducts}
      columns={columns}
    />
  );
}

/** What was typed; what is empty is as for all others. */
function changeIn(values: Values): Change {
  const chosen = (name: 'level' | 'mode' | 'mitigation') => (values[name] ?? null) as never;
  return {
    ...{ level: chosen('level'), mode: chosen('mode'), mitigation: chosen('mitigation') },
    thresholds: thresholdsIn(values) as NonNullable<Change['thresholds']>,
  };
}

function ProductFields({ now }: { now: Product }) {
  const { t } = useText();
  const usual = { value: '', label: t('edges.asForAll') };
  return (
    <>
      <Choice
        name="level"
        label={t('shield.level')}
        help={t('shield.levelHelp')}
        defaultValue={now.level ?? ''}
        choices={[usual, ...choicesOf(updateShieldProduct.level, (value) => t(`shield.level_${value}`))]}
      />
      <Choice
        name="mode"
        label={t('shield.mode')}
        help={t('shield.modeHelp')}
        defaultValue={now.mode ?? ''}
        choices={[usual, ...choicesOf(updateShieldProduct.mode, (value) => t(`shield.mode_${value}`))]}
      />
      <Choice
        name="mitigation"
        label={t('shield.mitigation')}
        help={t('shield.mitigationHelp')}
        defaultValue={now.mitigation ?? ''}
        choices={[
          usual,
          ...choicesOf(updateShieldProduct.mitigation, (value) => t(`shield.mitigation_${value}`)),
        ]}
      />
      <details
        className="more-fields"
        open={kinds.some((kind) => units.some((unit) => now.thresholds[kind]?.[unit] != null))}
      >
        <summary>{t('shield.thresholds')}</summary>
        <div>
          <Text size="sm" c="dimmed">
            {t('edges.thresholdsText')}
          </Text>
          <ThresholdFields now={now.thresholds} help={() => ''} />
        </div>
      </details>
    </>
  );
}
