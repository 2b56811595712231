import { createTransport } from 'nodemailer';
import { type MailIn, mailListener } from '../src/drivers/mailIn/index.ts';

/** What the domain name system says in these tests: example.com sends from this host alone, and says so. */
const names: Record<string, string[][]> = {
  'example.com TXT': [['v=spf1 ip4:127.0.0.1 -all']],
  '_dmarc.example.com TXT': [['v=DMARC1; p=reject']],
  'elsewhere.example TXT': [['v=spf1 ip4:192.0.2.1 -all']],
  '_dmarc.elsewhere.example TXT': [['v=DMARC1; p=none']],
  // Two companies, each with this product; they say nothing about themselves but which server is theirs.
  'in.a.example TXT': [['v=spf1 ip4:127.0.0.1 -all']],
  'in.b.example TXT': [['v=spf1 ip4:127.0.0.1 -all']],
};

export interface MailRoom {
  mailIn: MailIn;
  /** Brings a mail over SMTP; returns what the server said, or fails with its code in `responseCode`. */
  bring(mail: Brought): Promise<string>;
}

export interface Brought {
  /** Of the envelope; default: the address of `from`. */
  sender?: string;
  from: string;
  to: string | string[];
  /** Header lines beside From, To, Message-ID. */
  headers?: Record<string, string>;
  messageId?: string;
  text?: string;
  /** The whole mail, instead of one made of all this. */
  raw?: string | Buffer;
}

let made = 0;

/** A mail as somebody's program writes it. */
export function rawMail({ from, to, headers = {}, messageId, text = 'Hello.' }: Brought): string {
  made += 1;
  const lines = {
    ...{ From: from, To: [to].flat().join(', '), Subject: 'Re: your mail' },
    'Message-ID': messageId ?? `<${made}.${process.pid}.${Date.now()}@mail.example.com>`,
    ...{ 'MIME-Version': '1.0', 'Content-Type': 'text/plain; charset=utf-8' },
    ...headers,
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}`);
  return `${head.join('\r\n')}\r\n\r\n${text.replaceAll(/\r?\n/g, '\r\n')}\r\n`;
}

/** A listener as the product has it, to which tests bring mails. */
export function mailRoom(): MailRoom {
  let port = 0;
  const mailIn = mailListener({
    ...{ protocol: 'smtp', host: '127.0.0.1', port: 0, name: 'mx.inn.example', names },
    listening: (chosen) => {
      port = chosen;
    },
  });
  return {
    mailIn,
    bring: async (mail) => {
      const transport = createTransport({ host: '127.0.0.1', port, secure: false, name: 'mail.example.com' });
      try {
        const { response } = await transport.sendMail({
          envelope: { from: mail.sender ?? addressIn(mail.from), to: mail.to },
          raw: mail.raw ?? rawMail(mail),
        });
        return response;
      } finally {
        transport.close();
      }
    },
  };
}

function addressIn(from: string): string {
  return /<([^>]*)>/.exec(from)?.[1] ?? from;
}
