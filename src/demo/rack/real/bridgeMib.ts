/**
 * BRIDGE-MIB of a Linux bridge, as `pass_persist` of snmpd asks for it: at which port a MAC was heard, and which interface a port is. Real
 * switches bring it along; snmpd has none. Single values only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { runProgram } from '../../../platform/host/program.ts';

const [bridge = 'sw0'] = process.argv.slice(2);
const [portOfMac, interfaceOfPort] = ['.1.3.6.1.2.1.17.4.3.1.2.', '.1.3.6.1.2.1.17.1.4.1.2.'];

const numberAt = (file: string) => Number(readFileSync(file, 'utf8').trim());
const portNumber = (name: string) => numberAt(`/sys/class/net/${name}/brport/port_no`);

async function answerTo(oid: string): Promise<number | null> {
  if (oid.startsWith(portOfMac)) {
    const mac = oid
      .slice(portOfMac.length)
      .split('.')
      .map((byte) => Number(byte).toString(16).padStart(2, '0'))
      .join(':');
    const { stdout } = await runProgram(['bridge', '-j', 'fdb', 'show', 'br', bridge]);
    const known = JSON.parse(stdout) as { mac: string; ifname: string; state?: string }[];
    const entry = known.find((each) => each.mac === mac && each.state !== 'permanent');
    return entry === undefined ? null : portNumber(entry.ifname);
  }
  if (!oid.startsWith(interfaceOfPort)) return null;
  const port = Number(oid.slice(interfaceOfPort.length));
  const name = readdirSync(`/sys/class/net/${bridge}/brif`).find((each) => portNumber(each) === port);
  return name === undefined ? null : numberAt(`/sys/class/net/${name}/ifindex`);
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => (await lines.next()).value as string | undefined;
for (let line = await next(); line !== undefined; line = await next()) {
  if (line === 'PING') process.stdout.write('PONG\n');
  if (line !== 'get' && line !== 'getnext') continue;
  const oid = (await next()) ?? '';
  const value = line === 'get' ? await answerTo(oid) : null;
  process.stdout.write(value === null ? 'NONE\n' : `${oid}\ninteger\n${value}\n`);
}
