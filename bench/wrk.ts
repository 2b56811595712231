import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runProgram } from '../src/platform/host/program.ts';
import { undo } from './house.ts';
import type { Person } from './people.ts';

export interface Request {
  method: 'GET' | 'POST';
  path: string;
  /** Nobody when absent. */
  as?: Person;
  cookie?: string;
  body?: object;
}

export interface Load {
  /** Requests a second that were answered with 2xx. */
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  failed: number;
}

const script = `
local requests = {}
local at = 0
function init(args)
  for line in io.lines(args[1]) do
    local method, path, token, organization, cookie, body =
      line:match("([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t(.*)")
    local headers = {}
    if token ~= "" then
      headers["token"] = token
      headers["x-organization-id"] = organization
    end
    if cookie ~= "" then headers["cookie"] = cookie end
    if body ~= "" then headers["content-type"] = "application/json" else body = nil end
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('\\nRESULT {"requests":%d,"seconds":%f,"failed":%d,"p50":%f,"p95":%f,"p99":%f}\\n', summary.requests,
    summary.duration / 1e6, failed, latency:percentile(50) / 1e3, latency:percentile(95) / 1e3, latency:percentile(99) / 1e3))
end
`;

/** Requests prepared for wrk, sent by turns over and over. */
export interface Volley {
  fire(url: string, seconds: number, connections: number): Promise<Load>;
  remove(): void;
}

/** Load comes from wrk, which takes a tenth of a core where a client in JavaScript would take all of one. */
export function volley(requests: readonly Request[]): Volley {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'innkeeper-load-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  undo.push(remove); // it holds keys, and a failed figure does not come back to it
  const lines = requests.map(({ method, path: where, as, cookie = '', body }) =>
    [method, where, as?.token ?? '', as?.organizationId ?? '', cookie, body ? JSON.stringify(body) : ''].join(
      '\t',
    ),
  );
  writeFileSync(path.join(dir, 'load.lua'), script);
  writeFileSync(path.join(dir, 'requests.tsv'), `${lines.join('\n')}\n`, { mode: 0o600 });
  return {
    async fire(url, seconds, connections) {
      const { stdout } = await runProgram([
        ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', path.join(dir, 'load.lua')],
        ...[url, '--', path.join(dir, 'requests.tsv')],
      ]);
      const found = /RESULT (.*)/.exec(stdout)?.[1];
      if (found === undefined) throw new Error(`wrk said nothing:\n${stdout}`);
      const result = JSON.parse(found) as Record<
        'requests' | 'seconds' | 'failed' | 'p50' | 'p95' | 'p99',
        number
      >;
      return {
        perSecond: (result.requests - result.failed) / result.seconds,
        p50Ms: result.p50,
        p95Ms: result.p95,
        p99Ms: result.p99,
        failed: result.failed,
      };
    },
    remove,
  };
}
