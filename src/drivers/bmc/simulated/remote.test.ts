import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { type BmcUnderTest, describeBmc } from '../conformance.ts';
import type { BmcConnection } from '../connection.ts';
import { openBmcs } from '../open.ts';
import { type SimulatedFailures, simulatedRack } from './rack.ts';
import { knowsWord, serveBmcs } from './serve.ts';

const address = '192.0.2.11';
const connection: BmcConnection = { kind: 'simulated', address, user: 'root', password: 'factory-1' };
const word = 'open-sesame';

async function serve() {
  const rack = simulatedRack();
  const bmc = rack.put(address);
  const served = serveBmcs(rack);
  const server = createServer((request, response) => {
    if (knowsWord(request, word)) void served.answer(request, response);
    else response.writeHead(403).end();
  });
  server.on('upgrade', (request, socket) => void served.upgrade(request, socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { bmc, url, close, fail: (failing: SimulatedFailures) => Object.assign(bmc, { failing }) };
}

async function underTest(): Promise<BmcUnderTest> {
  const { bmc, url, close, fail } = await serve();
  return {
    open: openBmcs({ rack: { url, word }, offForMs: 0 }),
    connection,
    server: async () => ({ runs: bmc.power === 'on', starts: [...bmc.starts] }),
    rest: async () => void Object.assign(bmc, { power: 'off', nextBoot: null }),
    ignoreButton: async (is) => void fail({ ignoresButton: is }),
    sayYes: async (is) => void fail({ saysYes: is }),
    beSilent: async (is) => void fail(is ? { silent: 'before' } : {}),
    print: async (text) => bmc.line.print(text),
    typed: async () => bmc.line.typed,
    takeSerial: async () => bmc.line.take(),
    note: async () => {
      bmc.events.push({ id: String(bmc.events.length), at: null, subject: 'CPU Temp', message: 'too hot' });
    },
    unsafe: [],
    services: ['HTTPS', 'IPMI'],
    close,
  };
}

describeBmc('a simulated BMC of another process', underTest);

it('whose process has ended, or does not know us, is one that is silent', async () => {
  const { url, close } = await serve();
  const failed = expect.objectContaining({ code: 'bmc_silent', waits: true });
  const stranger = openBmcs({ rack: { url, word: 'guessed' } })(connection);
  await expect(stranger.readPower({ timeoutMs: 300 })).rejects.toEqual(failed);
  await close();
  const ours = openBmcs({ rack: { url, word } })(connection);
  await expect(ours.powerOn({ timeoutMs: 300 })).rejects.toEqual(failed);
  await expect(ours.openSerial({ timeoutMs: 300 })).rejects.toEqual(failed);
});
