import type { Schema } from '../../../client/index.ts';
import { day, moment, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Breaks, type Column, RowLink, State } from '../ui/index.ts';

type Service = Schema<'Service'>;

/** How services stand in a list. */
export function useServiceColumns(): Column<Service>[] {
  const { t, language } = useText();
  return [
    {
      name: t('services.name'),
      cell: (each) => (
        <div className="titled">
          <RowLink to="/services/$id" params={{ id: String(each.id) }}>
            <Breaks name={each.hostname ?? each.domain ?? t('services.untitled', { id: each.id })} />
          </RowLink>
          {each.note !== null && <small title={each.note}>{each.note}</small>}
        </div>
      ),
    },
    {
      name: t('services.status'),
      cell: ({ status, provisioning_state: delivery, waiting }) =>
        status === 'pending' && delivery === 'failed' ? (
          <details className="why">
            <summary>
              <span className="failed">{t('services.notBuilt')}</span> <u>{t('services.why')}</u>
            </summary>
            <p>{t('services.notBuiltWhy')}</p>
            {waiting.map(({ since }) => (
              <p key={since}>{t('services.notBuiltSince', { time: moment(since, language) })}</p>
            ))}
          </details>
        ) : (
          <State of={status} />
        ),
    },
    {
      name: t('services.address'),
      cell: ({ primary_ip }) => <span className="whole">{primary_ip ?? '–'}</span>,
    },
    { name: t('services.product'), cell: ({ product }) => product.name },
    {
      name: t('services.due'),
      isNumber: true,
      cell: ({ status, duedate, price, currency }) =>
        duedate === null || status === 'terminated'
          ? t('services.noPayment')
          : t('services.perCycle', {
              price: money(price, currency, language),
              day: day(duedate, language),
            }),
    },
  ];
}
