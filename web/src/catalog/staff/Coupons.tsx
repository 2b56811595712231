import { createCoupon } from '../../../../client/generated/fields/createCoupon.ts';
import { updateCoupon } from '../../../../client/generated/fields/updateCoupon.ts';
import type { Schema } from '../../../../client/index.ts';
import { inPages } from '../../data/ahead.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { coupons } from '../../data/queries/staff/index.ts';
import { money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, ListPage, Named, Tick, useColumns } from '../../ui/index.ts';

/** A number that was typed, or null for none. */
const numberOf = (text: string | undefined) => (text === undefined ? null : Number(text));
/** A day that was chosen, as its first moment. */
const momentOf = (day: string | undefined) => (day === undefined ? null : `${day}T00:00:00Z`);

export function Coupons() {
  const { t, language } = useText();
  const columns = useColumns<Schema<'Coupon'>>(
    ['code', 'worth', 'uses', 'max_uses', 'starts_at', 'expires_at', 'active', 'actions'],
    {
      worth: ({ percent, amount, currency }) =>
        percent === null ? money(amount ?? '0', currency, language) : `${percent} %`,
      actions: ({ id, active }) => (
        <Group gap="xs">
          <Act
            operation="updateCoupon"
            fields={updateCoupon}
            label={t('support.change')}
            of={drawnOf('/staff/coupons/{id}', { path: { id } })}
            onAct={(
              { max_uses: max, max_uses_per_customer: each, starts_at: from, expires_at: until },
              _files,
              ifMatch,
            ) =>
              client.patch('/staff/coupons/{id}', {
                ifMatch,
                path: { id },
                body: {
                  ...{ max_uses: numberOf(max), max_uses_per_customer: numberOf(each) },
                  ...{ starts_at: momentOf(from), expires_at: momentOf(until) },
                },
              })
            }
          >
            {({ coupon }) => <Limits of={coupon} />}
          </Act>
          <Act
            operation="endCoupon"
            label={t('money.end')}
            text={t('money.endCouponText')}
            isDangerous
            action={{ allowed: active, reason: t('money.couponEnded') }}
            ahead={{
              of: ['staff', 'coupons'],
              isOfSeveral: true,
              becomes: inPages('items', (each: Schema<'Coupon'>) =>
                each.id === id ? { ...each, active: false } : each,
              ),
            }}
            onAct={() => client.post('/staff/coupons/{id}/end', { path: { id } })}
          />
        </Group>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.coupons')}
      empty={t('empty.coupons')}
      list={coupons}
      filters={[
        { name: 'search' },
        {
          name: 'active',
          of: [
            { value: 'true', label: t('staff.yes') },
            { value: 'false', label: t('staff.no') },
          ],
        },
      ]}
      columns={columns}
      aside={
        <Act
          operation="createCoupon"
          fields={createCoupon}
          label={t('money.newCoupon')}
          size="sm"
          isFirst
          onAct={({ code = '', percent, amount, currency, recurring, ...limits }) =>
            client.post('/staff/coupons', {
              body: {
                code,
                ...(percent !== undefined && { percent: Number(percent) }),
                ...(amount !== undefined && { amount, currency }),
                ...{ recurring: recurring !== undefined },
                ...{
                  max_uses: numberOf(limits.max_uses),
                  max_uses_per_customer: numberOf(limits.max_uses_per_customer),
                },
                ...{ starts_at: momentOf(limits.starts_at), expires_at: momentOf(limits.expires_at) },
              },
            })
          }
        >
          <Named name="code" />
          <Named name="percent" isOptional help={t('money.percentHelp')} />
          <Named name="amount" isOptional />
          <Named name="currency" isOptional />
          <Tick name="recurring" label={t('money.recurring')} />
          <Limits />
        </Act>
      }
    />
  );
}

type Kept = Pick<Schema<'Coupon'>, 'max_uses' | 'max_uses_per_customer' | 'starts_at' | 'expires_at'>;

function Limits({ of: coupon }: { of?: Kept }) {
  return (
    <>
      <Named name="max_uses" value={coupon?.max_uses} isOptional />
      <Named name="max_uses_per_customer" value={coupon?.max_uses_per_customer} isOptional />
      <Named name="starts_at" type="date" value={coupon?.starts_at?.slice(0, 10)} isOptional />
      <Named name="expires_at" type="date" value={coupon?.expires_at?.slice(0, 10)} isOptional />
    </>
  );
}
