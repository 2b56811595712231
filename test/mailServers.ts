import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const programs = ['/usr/sbin/dovecot', '/usr/lib/dovecot/imap', '/usr/lib/dovecot/lmtp', '/usr/sbin/postfix'];

/** Why there are no real mail servers on this host; null when there are. They begin as root. */
export const withoutMailServers =
  process.getuid?.() !== 0
    ? 'mail servers begin as root'
    : programs.every((program) => existsSync(program))
      ? null
      : 'postfix, dovecot-imapd or dovecot-lmtpd is not installed';

/** A port of loopback that nobody has at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

export interface RealServer {
  /** Stops, and starts again with all that it had. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
  /** What it wrote into its log. */
  log(): string;
}

export interface Dovecot extends RealServer {
  imapPort: number;
  lmtpPort: number;
  /** The mailbox of an address, for whoever reads it; everybody's password is `secret`. */
  urlOf(address: string): string;
}

/** A real Dovecot that has a mailbox for every address, with a configuration and a folder of its own. */
export async function startDovecot(): Promise<Dovecot> {
  const dir = newDir('dovecot');
  const [imapPort, lmtpPort] = [await freePort(), await freePort()];
  mkdirSync(join(dir, 'mail'), { mode: 0o777 });
  chmodSync(join(dir, 'mail'), 0o777);
  const file = join(dir, 'dovecot.conf');
  writeFileSync(
    file,
    `
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = maildir:${dir}/mail/%Lu
first_valid_uid = 1
recipient_delimiter = +
postmaster_address = postmaster@in.inn.example
hostname = mail.inn.example
namespace inbox {
  inbox = yes
}
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=mail gid=mail home=${dir}/mail/%Lu allow_all_users=yes
}
service imap-login {
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${lmtpPort}
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
`,
  );
  const server = process_(['/usr/sbin/dovecot', '-F', '-c', file], dir, 'dovecot.log', [imapPort, lmtpPort]);
  await server.start();
  return {
    ...{ ...server, imapPort, lmtpPort },
    urlOf: (address) => `imap://${encodeURIComponent(address)}:secret@127.0.0.1:${imapPort}/INBOX`,
  };
}

export interface Postfix extends RealServer {
  smtpPort: number;
}

interface Routes {
  /** For each domain where its mails go, such as `lmtp:inet:127.0.0.1:2525`. */
  transport: Record<string, string>;
}

/**
 * A real Postfix with a queue of its own, which tries again every second. Who signs in nowhere may send, and in place of a
 * filter that looks at signatures a table says of each sender's domain what that would find: example.com is proved.
 */
export async function startPostfix({ transport }: Routes): Promise<Postfix> {
  const dir = newDir('postfix');
  const smtpPort = await freePort();
  for (const each of ['queue', 'data', 'etc']) mkdirSync(join(dir, each));
  const run = ['chown', 'postfix', join(dir, 'data')];
  await ended(spawn(run[0] ?? '', run.slice(1)));
  const routes = Object.entries(transport).map(([domain, where]) => `{ ${domain} = ${where} }`);
  const told = (result: string, domain: string) =>
    `PREPEND Authentication-Results: mx.inn.example; dmarc=${result} header.from=${domain}`;
  writeFileSync(
    join(dir, 'etc/main.cf'),
    `
compatibility_level = 3.6
queue_directory = ${dir}/queue
data_directory = ${dir}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${dir}/postfix.log
maillog_file_prefixes = ${dir}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
myhostname = mx.inn.example
myorigin = mx.inn.example
mydestination =
alias_maps =
local_recipient_maps =
relay_domains = ${Object.keys(transport).join(' ')}
transport_maps = inline:{ ${routes.join(', ')} }
recipient_delimiter = +
message_size_limit = 30000000
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_sender_restrictions = check_sender_access inline:{ { example.com = ${told('pass', 'example.com')} }, { elsewhere.example = ${told('fail', 'elsewhere.example')} } }
smtp_host_lookup = native
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
lmtp_destination_concurrency_failed_cohort_limit = 0
lmtp_connect_timeout = 2s
`,
  );
  const service = (name: string, type: string, command: string, limit = '0') =>
    `${name} ${type} - - n - ${limit} ${command}`;
  writeFileSync(
    join(dir, 'etc/master.cf'),
    [
      `127.0.0.1:${smtpPort} inet n - n - - smtpd`,
      'cleanup unix n - n - 0 cleanup',
      'qmgr unix n - n 300 1 qmgr',
      service('rewrite', 'unix', 'trivial-rewrite', '-'),
      ...['bounce', 'defer', 'trace'].map((name) => service(name, 'unix', 'bounce')),
      service('verify', 'unix', 'verify', '1'),
      'flush unix n - n 1000? 0 flush',
      service('proxymap', 'unix', 'proxymap', '-'),
      service('relay', 'unix', 'smtp', '-'),
      service('smtp', 'unix', 'smtp', '-'),
      service('lmtp', 'unix', 'lmtp', '-'),
      ...['error', 'discard'].map((name) => service(name, 'unix', name, '-')),
      service('retry', 'unix', 'error', '-'),
      service('anvil', 'unix', 'anvil', '1'),
      service('scache', 'unix', 'scache', '1'),
      'postlog unix-dgram n - n - 1 postlogd',
      '',
    ].join('\n'),
  );
  const etc = join(dir, 'etc');
  const server = process_(['/usr/sbin/postfix', '-c', etc, 'start-fg'], dir, 'postfix.log', [smtpPort], () =>
    ended(spawn('/usr/sbin/postfix', ['-c', etc, 'stop'], { stdio: 'ignore' })),
  );
  await server.start();
  return { ...server, smtpPort };
}

function newDir(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `innkeeper-${name}-`));
  chmodSync(dir, 0o755); // its parts run as users of their own
  return dir;
}

function process_(
  [program = '', ...args]: string[],
  dir: string,
  logName: string,
  ports: number[],
  halt?: () => Promise<void>,
): RealServer {
  let child: ChildProcess | null = null;
  let said = '';
  const log = () => {
    const file = join(dir, logName);
    return `${said}${existsSync(file) ? readFileSync(file, 'utf8') : ''}`;
  };
  const start = async () => {
    const begun = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child = begun;
    for (const stream of [begun.stdout, begun.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    const deadline = Date.now() + 30_000;
    for (const port of ports)
      while (!(await accepts(port))) {
        if (begun.exitCode !== null || Date.now() > deadline)
          throw new Error(`${program} does not answer:\n${log()}`);
        await pause(50);
      }
  };
  const stop = async () => {
    const begun = child;
    child = null;
    if (begun === null || begun.exitCode !== null) return;
    const gone = ended(begun);
    if (halt === undefined) begun.kill('SIGTERM');
    else await halt();
    await gone;
  };
  return {
    ...{ start, stop, log },
    close: async () => {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
