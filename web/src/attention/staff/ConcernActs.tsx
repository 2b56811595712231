import { bookUnknownPayment } from '../../../../client/generated/fields/bookUnknownPayment.ts';
import { dismissJob } from '../../../../client/generated/fields/dismissJob.ts';
import { dismissUnknownPayment } from '../../../../client/generated/fields/dismissUnknownPayment.ts';
import { refuseOrder } from '../../../../client/generated/fields/refuseOrder.ts';
import { releaseOrder } from '../../../../client/generated/fields/releaseOrder.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { useText } from '../../text/index.ts';
import { Act, Named, NamedLong } from '../../ui/index.ts';

/** What can be done about it at once. */
export function ConcernActs({ concern: { kind, subject } }: { concern: Schema<'Concern'> }) {
  const { t } = useText();
  const path = { id: subject.id };
  const reason = <NamedLong name="reason" />;
  switch (kind) {
    case 'job.failed':
      return (
        <>
          <Act
            operation="retryJob"
            label={t('staff.retry')}
            onAct={() => client.post('/staff/jobs/{id}/retry', { path })}
          />
          <Act
            operation="dismissJob"
            fields={dismissJob}
            label={t('staff.dismiss')}
            text={t('staff.dismissText')}
            onAct={({ reason = '' }) => client.post('/staff/jobs/{id}/dismiss', { path, body: { reason } })}
          >
            {reason}
          </Act>
        </>
      );
    case 'delivery.failed':
      return (
        <Act
          operation="retryServiceDelivery"
          label={t('staff.retry')}
          onAct={() => client.post('/staff/services/{id}/retry', { path })}
        />
      );
    case 'delivery.byHand':
      return (
        <Act
          operation="deliverServiceByHand"
          label={t('staff.delivered')}
          text={t('staff.deliveredText')}
          onAct={() => client.post('/staff/services/{id}/deliver', { path })}
        />
      );
    case 'order.held':
      return (
        <>
          <Act
            operation="releaseOrder"
            fields={releaseOrder}
            label={t('staff.release')}
            text={t('staff.releaseText')}
            onAct={({ note }) => client.post('/staff/orders/{id}/release', { path, body: { note } })}
          >
            <NamedLong name="note" isOptional />
          </Act>
          <Act
            operation="refuseOrder"
            fields={refuseOrder}
            label={t('staff.refuse')}
            text={t('staff.refuseText')}
            isDangerous
            onAct={({ reason = '' }) => client.post('/staff/orders/{id}/refuse', { path, body: { reason } })}
          >
            {reason}
          </Act>
        </>
      );
    case 'mail.failed':
      return (
        <Act
          operation="sendMailAgain"
          label={t('staff.sendAgain')}
          onAct={() => client.post('/staff/mails/{id}/send-again', { path })}
        />
      );
    case 'restore.held':
      return (
        <Act
          operation="releaseRestore"
          label={t('staff.release')}
          text={t('staff.releaseRestoreText')}
          isDangerous
          onAct={() => client.post('/staff/restores/{id}/release', { path })}
        />
      );
    case 'payment.unknown':
      return (
        <>
          <Act
            operation="bookUnknownPayment"
            fields={bookUnknownPayment}
            label={t('staff.book')}
            onAct={({ invoice_id: id }) =>
              client.post('/staff/unknown-payments/{id}/book', { path, body: { invoice_id: Number(id) } })
            }
          >
            <Named name="invoice_id" />
          </Act>
          <Act
            operation="dismissUnknownPayment"
            fields={dismissUnknownPayment}
            label={t('staff.dismiss')}
            onAct={({ reason = '' }) =>
              client.post('/staff/unknown-payments/{id}/dismiss', { path, body: { reason } })
            }
          >
            {reason}
          </Act>
        </>
      );
    default:
      return null;
  }
}
