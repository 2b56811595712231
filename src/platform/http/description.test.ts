import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeApi } from './api.ts';
import { describeApi } from './openapi.ts';
import { listRoutes } from './route.ts';
import { type Demo, demoOddRoutes, demoRoutes, startDemo } from './testbed.ts';

let demo: Demo;
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
let document: any;
beforeAll(async () => {
  demo = await startDemo();
  document = (await demo.call('GET', '/api/openapi.json', { as: null, organization: null })).body;
});
afterAll(() => closeApi(demo.app));

describe('the description', () => {
  it('names every route with its operation, parameters and errors', () => {
    for (const route of listRoutes([demoRoutes, demoOddRoutes])) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
      expect(document.paths[path]?.[route.method.toLowerCase()]?.operationId).toBe(route.operation);
    }
    const list = document.paths['/dashboard/notes'].get;
    expect(list.parameters.map((each: { name?: string; $ref?: string }) => each.name ?? each.$ref)).toEqual([
      'page',
      'limit',
      'cursor',
      'mood',
      '#/components/parameters/OrganizationHeader',
    ]);
    expect(list.parameters[0]).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', default: 1, minimum: 1 },
    });
    expect(Object.keys(list.responses)).toEqual(['200', '400', '401', '403', '429', '500', '503']);
    const create = document.paths['/dashboard/notes'].post;
    expect(create.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKey' });
    expect(create.requestBody.content['application/json'].schema.additionalProperties).toBe(false);
    expect(create.responses['409'].description).toContain('idempotency_in_flight');
    expect(document.paths['/hello'].get.security).toEqual([]);
  });

  it('has no reference that leads nowhere', () => {
    for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)) {
      const target = pointer
        .split('/')
        .slice(1)
        .reduce((at, step) => at?.[step], document);
      expect([pointer, target !== undefined]).toEqual([pointer, true]);
    }
  });

  it('refuses two operations of one name', () => {
    expect(() => describeApi(listRoutes([demoRoutes, demoRoutes]), { title: 'x', version: '1' })).toThrow(
      'same operation',
    );
  });
});

describe('the reference', () => {
  it('is served whole from this host, under a policy that allows no other', async () => {
    const page = await demo.call('GET', '/api/docs');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(page.text).not.toMatch(/https?:/);
    const viewer = await demo.call('GET', '/api/docs/viewer.js');
    expect(viewer.text).toContain('createApiReference');
    expect((await demo.call('GET', '/api/docs/start.js')).text).toContain('"telemetry":false');
  });
});
