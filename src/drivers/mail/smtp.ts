import { createTransport } from 'nodemailer';
import { checkMail } from './check.ts';
import { type Mail, MailError } from './contract.ts';

export interface SmtpOptions {
  /** `smtp://user:password@host:port` (STARTTLS where it is offered) or `smtps://…` (TLS from the start). */
  url: string;
  /** Certificate authorities to believe instead of the system's, in PEM. */
  ca?: string;
  /** How long a server may take to say something. Default: ten seconds. */
  timeoutMs?: number;
}

/** Sends over SMTP (RFC 5321), over a few connections that stay open. */
export function smtpMail({ url, ca, timeoutMs = 10_000 }: SmtpOptions): Mail {
  const transport = createTransport({
    url,
    pool: true,
    // Two more than the places of notices: whoever waits for a link finds one, however many notices there are.
    maxConnections: 6,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(ca === undefined ? {} : { tls: { ca } }),
  });
  return {
    kind: 'smtp',
    capabilities: ['delivery'],
    send: async (mail) => {
      checkMail(mail);
      try {
        const { headers = {}, references, returnPath, pictures = [], ...rest } = mail;
        const { response } = await transport.sendMail({
          ...rest,
          headers: { ...headers },
          attachments: pictures.map(({ cid, type, content }) => ({
            ...{ cid, content, contentType: type, contentDisposition: 'inline', filename: `${cid}.png` },
          })),
          ...(references === undefined ? {} : { references: [...references] }),
          ...(returnPath === undefined ? {} : { envelope: { from: returnPath, to: mail.to } }),
        });
        return response;
      } catch (error) {
        throw asMailError(error);
      }
    },
    close: async () => transport.close(),
  };
}

interface SmtpFailure {
  code?: string;
  responseCode?: number;
  /** What it was said to. */
  command?: string;
  response?: string;
}

/**
 * A server that answered has refused, for good from 500 on. One that did not let us in has not seen the mail, and in
 * every other case nobody knows what became of it.
 */
function asMailError(error: unknown): MailError {
  const message = `SMTP: ${error instanceof Error ? error.message : String(error)}`;
  const { code = '', responseCode = 0, command, response } = error as SmtpFailure;
  if (responseCode < 400 || code === 'EAUTH' || code === 'ETLS') {
    return new MailError('mail_unreachable', message, { cause: error });
  }
  // 5.7 is about who sends: a server that does not relay for us, or thinks ill of us.
  const isOfAddress =
    command === 'RCPT TO' && responseCode >= 500 && !/^\d{3}[ -]5\.7\./.test(response ?? '');
  if (isOfAddress) return new MailError('address_refused', message, { permanent: true, cause: error });
  return new MailError('mail_refused', message, { permanent: responseCode >= 500, cause: error });
}
