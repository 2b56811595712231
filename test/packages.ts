import { hostPackages } from '../src/drivers/hypervisor/index.ts';
import type { WantedPackage } from '../src/platform/host/packages.ts';
import { treePackages } from './incus/tree.ts';

/** Programs that tests run beside those that the product itself asks for. */
export const testPackages: WantedPackage[] = [
  { package: 'iproute2', why: 'a network namespace of its own for the test run' },
  { package: 'nftables', why: 'packet rules of machines and of Shield' },
  { package: 'gobgpd', why: 'BGP to a real router, for the edge' },
  { package: 'bird2', why: 'that router' },
  { package: 'pdns-server', why: 'reverse DNS against a real PowerDNS' },
  { package: 'pdns-backend-sqlite3', why: 'where the PowerDNS of the tests keeps its zones' },
  { package: 'prometheus', why: 'promtool, for names of metrics and rules of alerts' },
  { package: 'caddy', why: 'the proxy with TLS that the guide for founders sets up' },
  { package: 'curl', why: 'the calls of that guide' },
  { package: 'jq', why: 'fields of answers in that guide, and what the installer is told' },
  { package: 'zstd', why: 'unpacks images of disks as servers do' },
  { package: 'pgbouncer', why: 'a pooler before the database, in each of its modes' },
  { package: 'redis-server', why: 'limits that several processes count together, as in Valkey' },
  { package: 'postfix', why: 'mails that come in, by a real mail server' },
  { package: 'dovecot-imapd', why: 'mails that are fetched out of a real mailbox' },
  { package: 'dovecot-lmtpd', why: 'how they get into it' },
  { package: 'qpdf', why: 'whether PDFs are sound, by who did not write them' },
  { package: 'poppler-utils', why: 'what PDFs say, look like and carry' },
  { package: 'zbar-tools', why: 'what the codes on invoices say' },
  { package: 'libxml2-utils', why: 'xmllint, for electronic invoices' },
  { package: 'openssh-client', why: 'signing in to test machines' },
  { package: 'chromium-headless-shell', why: 'the dashboard and passkeys in a real browser' },
  { package: 'sshpass', why: 'signing in to test machines with a password' },
];

/** All Debian packages that a test run needs: ours and those of the driver it runs for real. */
export function packagesForTests(long: boolean): WantedPackage[] {
  // Only the long tests boot a whole Debian.
  return [
    ...testPackages,
    ...treePackages,
    ...hostPackages.filter((each) => long || each.use !== 'debian-12'),
  ];
}
