import { X509Certificate } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answering,
  certificates,
  type StandIn,
  standIn,
} from '../../hypervisor/incus/standIn.testbed.ts';
import type { BmcConnection } from '../connection.ts';
import type { Bmc } from '../contract.ts';
import { openBmcs } from '../open.ts';

let keys: Awaited<ReturnType<typeof certificates>>;
let stand: StandIn;
let bmc: Bmc;
beforeAll(async () => {
  keys = await certificates();
});
afterEach(async () => {
  await bmc.close();
  stand.close();
});

const json = (response: ServerResponse, body: unknown, status = 200, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const link = (path: string) => ({ '@odata.id': path });
const system = '/redfish/v1/Systems/1';

/** What a BMC of the plainest kind answers. */
const plain: Record<string, unknown> = {
  '/redfish/v1/': {
    ...{ Systems: link('/redfish/v1/Systems'), Managers: link('/redfish/v1/Managers') },
    AccountService: link('/redfish/v1/AccountService'),
  },
  '/redfish/v1/Systems': { Members: [link(system)] },
  '/redfish/v1/Managers': { Members: [link('/redfish/v1/Managers/1')] },
  '/redfish/v1/Managers/1': { FirmwareVersion: '1.0' },
  '/redfish/v1/AccountService': { Accounts: link('/redfish/v1/AccountService/Accounts') },
  [system]: { PowerState: 'On', Boot: { BootSourceOverrideEnabled: 'Disabled' } },
};

/** Somebody who answers as that one does, but for what is said. */
async function at(
  instead: Answering | Record<string, unknown>,
  more: Partial<BmcConnection> = {},
): Promise<Bmc> {
  stand = await standIn(keys.cluster, (request, response) => {
    const path = request.url ?? '';
    if (typeof instead === 'function') instead(request, response);
    if (response.headersSent) return;
    if (request.method === 'POST' && path.endsWith('/Sessions'))
      return void json(response, {}, 201, {
        'x-auth-token': 'a-token',
        location: '/redfish/v1/SessionService/Sessions/1',
      });
    const found = (typeof instead === 'object' && instead[path]) || plain[path];
    json(response, found ?? {}, found === undefined ? 404 : 200);
  });
  const { hostname: address, port } = new URL(stand.url);
  bmc = openBmcs()({
    ...{ kind: 'redfish', address, port: Number(port), user: 'root', password: 'canary-word-1' },
    ...{ certificate: new X509Certificate(keys.cluster.certificate).fingerprint256, ...more },
  });
  return bmc;
}

const failed = (code: string, message = /./) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });
const soon = { timeoutMs: 1_500 };

describe('what answers at the address of a BMC', () => {
  it('and is what it should be is read', async () => {
    expect(await (await at({})).readPower()).toBe('on');
  });

  it('with another certificate is told nothing', async () => {
    const other = await at({}, { certificate: new X509Certificate(keys.other.certificate).fingerprint256 });
    await expect(other.readPower(soon)).rejects.toEqual(failed('other_bmc', /another certificate/));
    expect(stand.asked).toEqual([]);
  });

  it('without a certificate to know it by is not spoken to', async () => {
    await at({});
    expect(() =>
      openBmcs()({ kind: 'redfish', address: '192.0.2.1', user: 'root', password: 'a-password' }),
    ).toThrow(expect.objectContaining({ code: 'spec_invalid' }));
  });

  it.each([301, 302, 307, 308])('and sends us elsewhere (%i) is not followed', async (status) => {
    const sending = await at((request, response) => {
      if (request.url === system) response.writeHead(status, { location: '/redfish/v1/elsewhere' }).end();
    });
    await expect(sending.readPower(soon)).rejects.toEqual(failed('answer_invalid', /elsewhere/));
    expect(stand.asked).not.toContain('GET /redfish/v1/elsewhere');
  });

  it('and talks without end is cut off', async () => {
    const talking = await at((request, response) => {
      if (request.url !== system) return;
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20)));
      };
      response.on('drain', more);
      more();
    });
    await expect(talking.readPower({ timeoutMs: 5_000 })).rejects.toEqual(
      failed('answer_invalid', /more than/),
    );
  });

  it('and talks slowly is given up in time', async () => {
    const slow = await at((request, response) => {
      if (request.url !== system) return;
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 50);
      response.once('close', () => clearInterval(timer));
    });
    const beganMs = performance.now();
    await expect(slow.readPower({ timeoutMs: 600 })).rejects.toEqual(
      expect.objectContaining({ code: 'bmc_silent', waits: true }),
    );
    expect(performance.now() - beganMs).toBeLessThan(3_000);
  });

  it.each([
    ['no JSON', '<html>sign in</html>'],
    ['half of it', '{"PowerState": "On'],
    ['a list', '[]'],
    ['nothing', 'null'],
    ['a state that there is not', '{"PowerState": {"toString": 1}}'],
    ['an inherited one', '{"__proto__": {"PowerState": "On"}}'],
    ['one nested without end', '['.repeat(400_000)],
  ])('and answers %s is refused', async (_what, text) => {
    const hostile = await at((request, response) => {
      if (request.url === system) response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    });
    await expect(hostile.readPower()).rejects.toEqual(failed('answer_invalid'));
  });

  it.each([
    'https://example.com/redfish/v1/Systems/1',
    '//example.com/x',
    '/redfish/../admin',
    '/logout',
    7,
    `/redfish/${'a'.repeat(400)}`,
  ])('and names the path %s is not followed there', async (path) => {
    const leading = await at({ '/redfish/v1/Systems': { Members: [{ '@odata.id': path }] } });
    await expect(leading.readPower()).rejects.toEqual(failed('answer_invalid', /path/));
  });

  it('and has several servers is not asked to switch any', async () => {
    const blades = await at({
      '/redfish/v1/Systems': { Members: [link(system), link('/redfish/v1/Systems/2')] },
    });
    await expect(blades.readPower()).rejects.toEqual(failed('not_supported', /2 Systems/));
  });

  it('and refuses says why, but for our password that it repeats', async () => {
    const refusing = await at((request, response) => {
      const message = 'no canary-word-1 here';
      if (request.url === system)
        json(response, { error: { message: 'x', '@Message.ExtendedInfo': [{ Message: message }] } }, 500);
    });
    await expect(refusing.readPower()).rejects.toEqual(
      failed('bmc_refused', /^the BMC refuses \(500\): no \(secret\) here$/),
    );
  });

  it('and has no session left for us says so', async () => {
    const full = await at((request, response) => {
      if (request.method === 'POST') json(response, { error: { message: 'no free sessions' } }, 503);
    });
    await expect(full.readPower()).rejects.toEqual(failed('bmc_refused', /no free sessions/));
  });
});

describe('a session', () => {
  it('that ended by itself is opened anew, and one of ours is ended with the handle', async () => {
    let isOver = false;
    const ending = await at((request, response) => {
      if (!isOver || request.url !== system) return;
      isOver = false;
      json(response, {}, 401);
    });
    await ending.readPower();
    isOver = true;
    expect(await ending.readPower()).toBe('on');
    await ending.close();
    const opened = stand.asked.filter((each) => each.startsWith('POST')).length;
    expect([opened, stand.asked.at(-1)]).toEqual([2, 'DELETE /redfish/v1/SessionService/Sessions/1']);
  });

  it('that is refused again and again is no reason to ask for ever', async () => {
    const never = await at((request, response) => {
      if (request.url === system) json(response, {}, 401);
    });
    await expect(never.readPower()).rejects.toEqual(failed('sign_in_refused'));
    expect(stand.asked.filter((each) => each.startsWith('POST')).length).toBeLessThanOrEqual(2);
  });
});

it('what somebody else changed in between is looked at again, and changed then', async () => {
  const sent: (string | undefined)[] = [];
  let target = 'None';
  const changing = await at((request, response) => {
    if (request.url !== system) return;
    if (request.method === 'PATCH') {
      sent.push(request.headers['if-match']);
      if (sent.length === 2) target = 'Pxe';
      return void json(response, {}, sent.length === 1 ? 412 : 200);
    }
    const boot = {
      BootSourceOverrideEnabled: target === 'None' ? 'Disabled' : 'Once',
      BootSourceOverrideTarget: target,
    };
    json(response, { PowerState: 'On', Boot: boot }, 200, { etag: `"${sent.length}"` });
  });
  await changing.setNextBoot({ from: 'network', firmware: 'uefi' });
  expect(sent).toEqual(['"0"', '"1"']);
});
