import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents } from '../../../test/sql.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
  await product.staff.post('/staff/racks', { name: 'AMS-2', location: 'AMS', units: 42 });
  await product.staff.post('/staff/servers', { name: 'stands', serial: 'S0', macs: ['52:54:00:00:00:01'] });
});
afterAll(() => product.stop());

const headings = 'name,serial,rack,unit,height,macs,bmc_kind,bmc_address,bmc_user,bmc_password,note';
const send = async (file: string | Buffer) => {
  const answer = await fetch(`${product.url}/api/staff/servers/import`, {
    method: 'POST',
    headers: { token: product.demo.staff.api_key, 'content-type': 'text/csv' },
    body: Buffer.from(file as string),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are held against their schema where they are sent
  return { status: answer.status, body: (await answer.json()) as any };
};

describe('a table of servers', () => {
  it('is added as a whole, with commas within quotes, a mark at its beginning, and whatever ends its lines', async () => {
    const { status, body } = await send(
      `\uFEFF${headings}\r\n` +
        'a1,"CZ,1",AMS-2,1,2,52:54:00:00:00:10 52:54:00:00:00:11,ipmi,192.0.2.1,adm,"p,w""d",\r\n' +
        '\r\n' +
        'a2, CZ2 ,AMS-2,3,,,,,,,"second, of two"\r\n',
    );
    expect([status, body.data.servers.map(({ name }: { name: string }) => name)]).toEqual([
      200,
      ['a1', 'a2'],
    ]);
    const { servers } = (await product.staff.get('/staff/servers?search=a')).body.data;
    expect(servers).toMatchObject([
      {
        ...{ name: 'a1', serial: 'CZ,1', rack: 'AMS-2', unit: 1, height: 2, note: null },
        ...{ macs: ['52:54:00:00:00:10', '52:54:00:00:00:11'], bmc: { kind: 'ipmi', address: '192.0.2.1' } },
      },
      { name: 'a2', serial: 'CZ2', unit: 3, height: 1, bmc: null, note: 'second, of two' },
    ]);
  });

  it('adds nothing when one line is wrong, and says of each line what is', async () => {
    const before = await contents(product);
    const { status, body } = await send(
      [
        headings,
        'b1,B1,AMS-2,20,,,,,,,',
        'b2,B2,AMS-2,twenty,,,,,,,',
        'b3,B3,nowhere,1,,,,,,,',
        'b4,B4,AMS-2,20,,,,,,,',
        'b5,B1,,,,,,,,,',
        'b6,B6,,,,52:54:00:00:00:01,,,,,',
        'b7,B7,,,,,ipmi,192.0.2.9,adm,,',
        'b8,B8,,,,,telnet,192.0.2.9,adm,pw,',
        ',B9,,,,,,,,,',
      ].join('\n'),
    );
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.details).toEqual([
      { field: 'line 3', message: 'unit must be an integer or null, not a string' },
      { field: 'line 4', message: 'rack is no rack' },
      { field: 'line 5', message: 'unit is taken in AMS-2: b1 stands there' },
      { field: 'line 6', message: 'There is a server with the serial B1 already' },
      { field: 'line 7', message: '52:54:00:00:00:01 is a port of stands already' },
      { field: 'line 8', message: 'bmc_password is missing' },
      { field: 'line 9', message: 'bmc_kind must be one of ipmi, redfish, simulated' },
      { field: 'line 10', message: 'name is missing' },
    ]);
    expect(await contents(product)).toEqual(before);
  });

  it.each<[string, string | Buffer, RegExp]>([
    ['nothing', '', /is missing/],
    ['headings alone', `${headings}\n`, /must have a line of headings and a line for each/],
    [
      'a heading that means nothing',
      'name,serial,price\na,b,c\n',
      /has a heading "price"; those that mean something are name, serial/,
    ],
    ['a heading twice', 'name,serial,name\na,b,c\n', /has the heading name twice/],
    ['no serials', 'name\na\n', /must have the heading serial/],
    ['a line with more cells', 'name,serial\na,b,c\n', /is no CSV: /],
    ['a quote that is not closed', 'name,serial\n"a,b\n', /is no CSV: /],
    ['other letters than UTF-8', Buffer.from([0x6e, 0xff, 0xfe]), /must be text in UTF-8/],
    [
      'too many lines',
      `name,serial\n${Array.from({ length: 501 }, (_, at) => `n${at},s${at}`).join('\n')}`,
      /at most 500 servers/,
    ],
  ])('that has %s is refused in words', async (_what, text, words) => {
    const { status, body } = await send(text);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.details[0].message).toMatch(words);
  });
});

describe('every change', () => changes.leaveEntries(() => product, ['importServers']));
