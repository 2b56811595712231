/**
 * Mail leaves the product here. SMTP is the one real engine; without a server configured nothing is sent and
 * mails stay in the database, where staff reads them.
 */
import { createTransport } from 'nodemailer';

export interface OutgoingMail {
  /** Stable over repeated sends, so that receivers drop doubles. */
  messageId: string;
  from: string;
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** Resolves once the server has taken the mail. Errors with `permanent: true` when it never will (5xx). */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

const timeoutMs = 10_000;

/** One plain address: the library would read anything else as a list, and mail everybody on it. */
const oneAddress = /^[^\s@<>(),;:"]+@[^\s@<>(),;:"]+$/;

/** Sends over SMTP; `url` as `smtp://user:password@host:port` or `smtps://…`. */
export function smtpMailer(url: string): Mailer {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 4,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async (mail) => {
      if (!oneAddress.test(mail.to)) {
        throw Object.assign(new Error('the recipient is not one address'), {
          code: 'recipient_invalid',
          permanent: true,
        });
      }
      try {
        await transport.sendMail(mail);
      } catch (error) {
        throw Object.assign(new Error(`SMTP: ${messageOf(error)}`, { cause: error }), {
          code: 'smtp_failed',
          permanent: isRefusal(error),
        });
      }
    },
    close: () => transport.close(),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !('responseCode' in error)) return false;
  return typeof error.responseCode === 'number' && error.responseCode >= 500;
}
