import { afterEach, describe, expect, it } from 'vitest';
import { describeMail } from './conformance.ts';
import { type Mail, type SmtpOptions, smtpMail } from './index.ts';
import { type BedOptions, type MailServerBed, selfSigned, startMailServer } from './testbed.ts';

const timeoutMs = 1_000;
const own = selfSigned();
const withoutTls = own === null ? 'there is no openssl to make a certificate with' : null;

async function bed(options: BedOptions, smtp: (server: MailServerBed) => SmtpOptions) {
  const server = await startMailServer(options);
  const mail = smtpMail({ timeoutMs, ...smtp(server) });
  const close = async () => {
    await mail.close();
    await server.close();
  };
  return { mail, world: server, close };
}

describeMail('SMTP', () => bed({}, ({ port }) => ({ url: `smtp://127.0.0.1:${port}` })));

describeMail(
  'SMTP over TLS, with an account',
  () =>
    bed({ ...(own && { tls: own }), secure: true, account: { user: 'inn', pass: 'p@ss' } }, ({ port }) => ({
      url: `smtps://inn:p%40ss@127.0.0.1:${port}`,
      ...(own && { ca: own.cert }),
    })),
  withoutTls,
);

const letter = {
  messageId: '<1@inn.example>',
  from: 'a@inn.example',
  to: 'b@example.com',
  subject: 's',
  text: 't',
};

describe('SMTP', () => {
  let open: { mail: Mail; world: MailServerBed; close(): Promise<void> } | undefined;
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });

  it('fails for now when nobody listens', async () => {
    const mail = smtpMail({ url: 'smtp://127.0.0.1:9', timeoutMs });
    await expect(mail.send(letter)).rejects.toMatchObject({ code: 'mail_unreachable', permanent: false });
    await mail.close();
  });

  it('fails for now with a wrong password, which is our fault and not the mail’s, and never names it', async () => {
    open = await bed({ account: { user: 'inn', pass: 'right' } }, ({ port }) => ({
      url: `smtp://inn:canary-password@127.0.0.1:${port}`,
    }));
    const error = await open.mail.send(letter).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'mail_unreachable', permanent: false });
    expect(String(error)).not.toContain('canary');
    expect(open.world.arrived()).toEqual([]);
  });

  describe.skipIf(own === null)('with TLS', () => {
    const tls = own ?? { key: '', cert: '' };

    it('is encrypted where the server offers it', async () => {
      open = await bed({ tls }, ({ port }) => ({ url: `smtp://127.0.0.1:${port}`, ca: tls.cert }));
      await open.mail.send(letter);
      expect(open.world.encrypted).toEqual([true]);
    });

    it.each(['smtp', 'smtps'])(
      'gives nothing to a server that cannot prove who it is (%s)',
      async (scheme) => {
        open = await bed({ tls, secure: scheme === 'smtps' }, ({ port }) => ({
          url: `${scheme}://127.0.0.1:${port}`,
        }));
        await expect(open.mail.send(letter)).rejects.toMatchObject({
          code: 'mail_unreachable',
          permanent: false,
        });
        expect(open.world.arrived()).toEqual([]);
      },
    );

    it('believes a certificate for its own name only', async () => {
      const other = selfSigned('other.example');
      if (other === null) throw new Error('openssl made one certificate and not another');
      open = await bed({ tls: other }, ({ port }) => ({ url: `smtp://localhost:${port}`, ca: other.cert }));
      await expect(open.mail.send(letter)).rejects.toMatchObject({ code: 'mail_unreachable' });
      expect(open.world.arrived()).toEqual([]);
    });
  });
});
