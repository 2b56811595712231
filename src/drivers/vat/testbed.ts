import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a register behaves: it answers, or is out of order in one of the ways that were seen of it. */
export type Mood =
  | 'well'
  /** Refuses connections' requests by hanging up. */
  | 'down'
  /** Takes the question and never answers. */
  | 'slow'
  /** Sends its headers at once and its answer a byte at a time, for ever. */
  | 'dripping'
  | 'garbage'
  | 'endless'
  /** A member state's own register is away: status 200, and an error. */
  | 'state_away'
  | 'too_many'
  | 'requester_unknown'
  | 'broken'
  /** Answers about another id than it was asked for. */
  | 'confused'
  /** An object that says neither yes nor no. */
  | 'evasive';

/** A register over HTTP as VIES is one: some ids are in it, and its mood can be changed. */
export interface StandInVies {
  url: string;
  /** Ids that are in it, with their country in front. */
  ids: Set<string>;
  mood: Mood;
  /** What it was asked, in order. */
  asked: { vatId: string; requester: string | null }[];
  /** Hangs up on whoever waits for an answer. */
  hangUp(): void;
  close(): Promise<void>;
}

export async function startVies(ids: readonly string[] = []): Promise<StandInVies> {
  let consultations = 0;
  const server = createServer((request, response) => {
    void read(request).then((question) => answer(question, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const standIn: StandInVies = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rest-api`,
    ids: new Set(ids),
    mood: 'well',
    asked: [],
    hangUp: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  function answer(question: Record<string, string>, response: ServerResponse): void {
    const { countryCode, vatNumber, requesterMemberStateCode: state, requesterNumber } = question;
    const vatId = `${countryCode}${vatNumber}`;
    standIn.asked.push({ vatId, requester: state === undefined ? null : `${state}${requesterNumber}` });
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const error = (name: string) => json(200, { actionSucceed: false, errorWrappers: [{ error: name }] });
    const told = {
      countryCode,
      vatNumber,
      requestDate: '2026-01-31T12:00:00.000Z',
      valid: standIn.ids.has(vatId),
      requestIdentifier: '',
      name: standIn.ids.has(vatId) ? 'BEISPIEL GMBH' : '---',
      address: standIn.ids.has(vatId) ? 'WEG 1\n10115 BERLIN' : '---',
    };
    switch (standIn.mood) {
      case 'down':
        return void response.socket?.destroy();
      case 'slow':
        return;
      case 'dripping': {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 20);
        return void response.on('close', () => clearInterval(drip));
      }
      case 'garbage':
        return void response.end('<html>It works!</html>');
      case 'endless':
        return void response.end(`{"valid": true, "name": "${'x'.repeat(200_000)}"}`);
      case 'state_away':
        return void error('MS_UNAVAILABLE');
      case 'too_many':
        return void error('GLOBAL_MAX_CONCURRENT_REQ');
      case 'requester_unknown':
        return void error('INVALID_REQUESTER_INFO');
      case 'broken':
        return void json(500, { error: 'Internal Server Error' });
      case 'confused':
        return void json(200, { ...told, vatNumber: `${vatNumber}9`, valid: true });
      case 'evasive':
        return void json(200, { ...told, valid: null });
      case 'well': {
        consultations += 1;
        return void json(200, {
          ...told,
          ...(state !== undefined && { requestIdentifier: `WAPIAAAA${consultations}` }),
        });
      }
    }
  }
  return standIn;
}

async function read(request: IncomingMessage): Promise<Record<string, string>> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}
