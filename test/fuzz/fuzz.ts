import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import type { Demo } from '../../src/demo/index.ts';
import { startProductChild } from '../crash/child.ts';
import { testDatabase } from '../database.ts';
import { dereference } from '../dereference.ts';
import { sql } from '../sql.ts';
import { stripeEnv } from '../stripe/product.ts';
import { startStripe } from '../stripe/standIn.ts';
import { blockedBy, longestOf, type Turn, tellTurns, turnsFileVariable } from './blocks.ts';
import { anyRequest, type FuzzRequest, type Known, type OpenApi } from './requests.ts';

export interface Fuzzed {
  requests: number;
  byStatus: Record<string, number>;
  /** The most that the event loop's thread computed in one turn, each time that the same requests were served. */
  longestBlockMs: number;
  /** The requests of that turn. */
  longestBlockBy: string;
  /** The same the first time, when what checks an operation's requests and writes its answers may have been compiled. */
  longestOnceMs: number;
  /** The longest turn by the clock, waiting for a core that another program had included. */
  lagMs: number;
  seed: number;
}

const atOnce = 8;

/** No requests keep others from being served for as long as this; a few once in the life of a process, by what is compiled then. */
export const blocksAtMostMs = 200;
export const onceAtMostMs = 1_000;

/** Sends so many requests to a product of its own; throws an Error with every kind of answer that should not be. */
export async function fuzz(requests: number, seed = Date.now()): Promise<Fuzzed> {
  const database = await testDatabase();
  const dataDir = mkdtempSync(path.join(tmpdir(), 'innkeeper-fuzz-'));
  const stripe = await startStripe();
  const turnsFile = path.join(dataDir, 'turns');
  writeFileSync(turnsFile, '');
  const child = startProductChild(
    {
      DATA_DIR: dataDir,
      [turnsFileVariable]: turnsFile,
      DATABASE_URL: database.url,
      HYPERVISOR: 'simulator',
      RATE_LIMITS: 'off',
      CHECK_RESPONSES: 'on',
      LOG_LEVEL: 'error',
      NETWORK4: '10.96.0.0/18',
      // Without a payment provider, what needs one answers 503, as it should.
      ...stripeEnv(stripe),
    },
    tellTurns,
  );
  try {
    const url = await child.ready;
    const document = dereference((await (await fetch(`${url}/api/openapi.json`)).json()) as OpenApi);
    const demo = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as Demo;
    const known = whatIsKnown(demo);
    const judge = createJudge(document);
    const byStatus: Record<string, number> = {};
    const problems = new Map<string, string>();
    let runs = 0;
    let [longestBlockMs, longestBlockBy] = [0, ''];
    const firsts: Turn[] = [];
    const serve = (batch: FuzzRequest[]) =>
      Promise.all(
        batch.map(async (request) => {
          const answer = await send(url, request);
          byStatus[answer.status] = (byStatus[answer.status] ?? 0) + 1;
          learn(known, answer.body);
          const problem = judge(request, answer);
          if (problem === null) return;
          const kind = `${request.method} ${request.path}: ${problem.slice(0, 80)}`;
          if (!problems.has(kind)) problems.set(kind, `${problem}\n${show(request)}\n→ ${brief(answer)}`);
        }),
      );
    await fc
      .assert(
        fc.asyncProperty(
          fc.array(anyRequest(document, known), { minLength: atOnce, maxLength: atOnce }),
          async (batch) => {
            const { always, once } = await blockedBy(
              turnsFile,
              async () => (await fetch(`${url}/livez`)).text(),
              (isAgain) => serve(isAgain ? batch.map(anew) : batch),
            );
            firsts.push(once);
            if (always.cpuMs > longestBlockMs)
              [longestBlockMs, longestBlockBy] = [always.cpuMs, batch.map(show).join('\n')];
            runs += 1;
            if (problems.size >= 20) throw new Error('more than enough was found');
            if (runs % 25 === 0) await reopen(database.url);
          },
        ),
        {
          numRuns: Math.ceil(requests / atOnce),
          seed,
          interruptAfterTimeLimit: 3_000_000,
          endOnFailure: false,
        },
      )
      .catch((error: Error) =>
        problems.set('the run', `${error.message.slice(0, 2_000)}\n${error.cause ?? ''}`),
      );
    if (problems.size > 0) {
      throw new Error(
        `seed ${seed}:\n${[...problems.values()].join('\n\n')}\n${child.printed().slice(-2_000)}`,
      );
    }
    const { cpuMs: longestOnceMs, lagMs } = longestOf(firsts);
    return {
      ...{ requests: runs * atOnce, byStatus, seed },
      ...{ longestBlockMs, longestBlockBy, longestOnceMs, lagMs },
    };
  } finally {
    child.kill();
    await child.exited;
    await stripe.close();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Staff's random changes would close the shop for good. */
async function reopen(databaseUrl: string): Promise<void> {
  await sql(
    { databaseUrl },
    `update products set status = 'active', stock = null where status <> 'active' or stock < 5`,
  );
  await sql({ databaseUrl }, `update nodes set state = 'active' where state <> 'active'`);
}

function whatIsKnown(demo: Demo): Known {
  const ids = Object.values(demo.products);
  return {
    demo,
    ids,
    note: (id) => {
      if (ids.includes(id)) return;
      ids.push(id);
      if (ids.length > 40) ids.splice(4, 1);
    },
  };
}

function learn(known: Known, body: unknown): void {
  const data = (body as { data?: Record<string, unknown> } | null)?.data;
  if (typeof data !== 'object' || data === null) return;
  for (const id of [data.invoice_id, ...((data.service_ids as unknown[] | undefined) ?? [])]) {
    if (typeof id === 'number') known.note(id);
  }
}

interface Answered {
  status: number;
  type: string;
  text: string;
  body: unknown;
}

/** What was asked under a key would not be done again. */
function anew({ headers, ...request }: FuzzRequest): FuzzRequest {
  const { 'idempotency-key': _, ...others } = headers;
  return { ...request, headers: others };
}

/** Not `fetch`: it refuses to send some of what a hostile client sends. */
function send(url: string, { method, url: path, headers, body }: FuzzRequest): Promise<Answered> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, method, path: `/api${path}`, headers: headers, agent: false },
      (response) => {
        const type = response.headers['content-type'] ?? '';
        const status = response.statusCode ?? 0;
        if (type === 'text/event-stream') {
          response.destroy(); // it has no end to wait for
          resolve({ status, type, text: '', body: undefined });
          return;
        }
        text(response).then((whole) => {
          resolve({ status, type, text: whole, body: parse(whole) });
        }, reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function parse(whole: string): unknown {
  try {
    return JSON.parse(whole);
  } catch {
    return undefined;
  }
}

/** Says what is wrong with an answer, by the description; null when nothing is. */
function createJudge(document: OpenApi): (request: FuzzRequest, answer: Answered) => string | null {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'api', ...document });
  const compiled = new Map<string, ValidateFunction>();
  const validator = (pointer: string): ValidateFunction => {
    const made = compiled.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    compiled.set(pointer, made);
    return made;
  };
  return (request, answer) => {
    if (answer.status >= 500) return 'an error of ours';
    if (answer.status === 304) return null;
    const isNoRoute = (answer.body as { code?: string } | undefined)?.code === 'route_not_found';
    if (isNoRoute) return check(validator('/components/schemas/Error'), answer);
    const declared = document.paths[request.path]?.[request.method.toLowerCase()]?.responses[answer.status];
    if (!declared) return `the status ${answer.status} is not declared`;
    const [type] = Object.keys(declared.content ?? {});
    if (type === undefined) return null;
    const hasSchema = declared.content?.[type]?.schema !== undefined;
    if (!answer.type.startsWith(type)) return `the type is ${answer.type}, declared is ${type}`;
    if (!type.startsWith('application/json') || !hasSchema) return null;
    const steps = ['paths', request.path, request.method.toLowerCase(), 'responses', String(answer.status)];
    const pointer = [...steps, 'content', type, 'schema'].map(escapePointer).join('/');
    return check(validator(`/${pointer}`), answer);
  };
}

function escapePointer(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function check(validate: ValidateFunction, answer: Answered): string | null {
  if (validate(answer.body)) return null;
  return `the answer does not match its schema: ${JSON.stringify(validate.errors?.slice(0, 3))}`;
}

function brief({ status, text: whole }: Answered): string {
  return `${status} ${whole.slice(0, 800)}`;
}

function show({ method, url, headers, body }: FuzzRequest): string {
  return `${method} /api${url} ${JSON.stringify(headers)} ${body?.slice(0, 1_500) ?? ''}`;
}
