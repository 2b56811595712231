import type { Schema } from '../../../../client/index.ts';
import { money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Choice, Field, SimpleGrid, Stack, Text, Trial, useWord, type Values } from '../../ui/index.ts';
import { previewProduct } from './Having.tsx';

type Product = Schema<'StaffProduct'>;

/** What somebody would pay for an order of a product, also of one that is not for sale yet. */
export function OrderTrial({ of: product }: { of: Product }) {
  const { t, language } = useText();
  const word = useWord();
  const ask = (values: Values) =>
    previewProduct(product.id, {
      order: { cycle: values.cycle as Schema<'Cycle'>, options: chosen(product, values) },
    });
  const { id, options, prices } = product;
  return (
    // What the product is like now is asked for anew when it has changed.
    <form
      key={JSON.stringify([options, prices])}
      className="form"
      onSubmit={(event) => event.preventDefault()}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t('money.trialOrderText')}
        </Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Choice
            name="cycle"
            label={t('field.cycle')}
            choices={prices.map(({ cycle }) => ({ value: cycle, label: word(cycle) }))}
          />
          {options.map(({ key, label, kind, min, max, values }) =>
            kind === 'choice' ? (
              <Choice
                key={key}
                name={key}
                label={label}
                choices={values.map((each) => ({ value: each.value, label: each.label }))}
              />
            ) : (
              <Field
                key={key}
                name={key}
                label={label}
                inputMode="numeric"
                help={t('money.bounds', { min, max })}
                defaultValue={String(min)}
                autoComplete="off"
              />
            ),
          )}
        </SimpleGrid>
        <Trial label={t('money.itCosts')} about={['staff', 'products', id]} ask={ask}>
          {({ order }) =>
            order !== null && (
              <Text>
                <Text span fw={700} size="xl" data-total>
                  {t('money.perCycle', {
                    price: money(order.price, order.currency, language),
                    cycle: word(order.cycle),
                  })}
                </Text>{' '}
                {Number(order.setup_fee) > 0 &&
                  t('money.once', { price: money(order.setup_fee, order.currency, language) })}
              </Text>
            )
          }
        </Trial>
      </Stack>
    </form>
  );
}

function chosen({ options }: Product, values: Values): Record<string, unknown> {
  return Object.fromEntries(
    options.flatMap(({ key, kind }) => {
      const value = values[key];
      return value === undefined ? [] : [[key, kind === 'integer' ? Number(value) : value]];
    }),
  );
}
