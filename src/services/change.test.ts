import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Response } from '../../test/client.ts';
import { runningVps } from '../../test/orders.ts';
import { newCustomer, newMember, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';
import { actionsOf, type Facts, reasonAgainst, serviceActions, serviceStatuses } from './states.ts';

let product: TestProduct;
let owner: Person;
let id: number;
beforeAll(async () => {
  product = await startTestProduct();
  owner = await newCustomer(product, { creditMinor: 100_000 });
  ({ serviceId: id } = await runningVps(product, owner));
});
beforeEach(() => settled(product));
afterAll(() => product.stop());

const path = () => `/dashboard/services/${id}`;
const service = async () => (await owner.get(path())).body.data.service;
const told = () =>
  sql<{ data: object }>(
    product,
    `select data from journal where action = 'service.updated' and subject_id = $1 order by id`,
    id,
  );

describe('the note of a service', () => {
  it('is what was written last, to the letter, or none; nobody is told of what is the same', async () => {
    for (const note of ['Our shop', ' <b>&amp;\u{1F680} \r\n', '', null]) {
      const answer = await owner.patch(`${path()}/note`, { note });
      expect(answer.body.data.service).toEqual(await service());
      expect((await service()).note).toBe(note);
    }
    const before = await told();
    expect((await owner.patch(`${path()}/note`, { note: null })).status).toBe(200);
    expect(await told()).toEqual(before);
    expect(before).toHaveLength(4);
  });

  it('has two thousand characters at most, however many bytes each takes', async () => {
    expect((await owner.patch(`${path()}/note`, { note: '\u{1F680}'.repeat(2_000) })).status).toBe(200);
    for (const note of ['\u{1F680}'.repeat(2_001), 'x'.repeat(2_001), 7, undefined, ['x'], '\u0000']) {
      await settled(product);
      const before = await contents(product);
      expect((await owner.patch(`${path()}/note`, { note })).status).toBe(400);
      expect(await contents(product)).toEqual(before);
    }
  });

  it('has the tag of the service, so that one serves for both', async () => {
    const tagOf = async (suffix: string) => (await owner.get(`${path()}${suffix}`)).headers.get('etag');
    expect(await tagOf('/note')).toBe(await tagOf(''));
    const tag = (await tagOf('')) ?? '';
    expect((await owner.patch(`${path()}/note`, { note: 'new' }, { 'if-match': tag })).status).toBe(200);
    expect((await owner.patch(path(), { auto_renew: false }, { 'if-match': tag })).status).toBe(412);
  });

  it('is written by technical people, and auto_renew by those who pay', async () => {
    const technical = await newMember(product, owner.organizationId, 'technical');
    const billing = await newMember(product, owner.organizationId, 'billing');
    expect((await technical.patch(`${path()}/note`, { note: 'by us' })).status).toBe(200);
    expect((await technical.patch(path(), { auto_renew: true })).body.code).toBe('permission_denied');
    expect((await billing.patch(path(), { auto_renew: true })).status).toBe(200);
    expect((await billing.patch(`${path()}/note`, { note: 'by them' })).body.code).toBe('permission_denied');
  });
});

describe('auto_renew', () => {
  it('is what was said last, and stays where nothing is said', async () => {
    expect((await owner.patch(path(), { auto_renew: false })).body.data.service.auto_renew).toBe(false);
    expect((await owner.patch(path(), {})).body.data.service.auto_renew).toBe(false);
    expect((await owner.patch(path(), { auto_renew: true })).body.data.service).toEqual(await service());
    expect((await owner.get(`${path()}/renew`)).body.data.auto_renew).toBe(true);
  });

  it('is not changed of a service that has ended, nor to what is no answer', async () => {
    for (const body of [{ auto_renew: 'no' }, { auto_renew: null }, { auto_renew: 0 }, { note: 'x' }])
      expect((await owner.patch(path(), body)).status, JSON.stringify(body)).toBe(400);
    await sql(product, `update services set status = 'terminated' where id = $1`, id);
    await settled(product);
    const before = await contents(product);
    expect((await owner.patch(path(), { auto_renew: false })).body.code).toBe('conflict');
    expect(await contents(product)).toEqual(before);
    await sql(product, `update services set status = 'active' where id = $1`, id);
  });
});

describe('what may be done with a service', () => {
  it('is shown as it is enforced, in every state', async () => {
    const ask = {
      renew: () => owner.post(`${path()}/renew`, { cycle: 'monthly' }),
      upgrade_vps: () => owner.post(`${path()}/upgrade-vps`, { option1: 2, dry_run: true }),
      auto_renew: () => owner.patch(path(), { auto_renew: true }),
      note: () => owner.patch(`${path()}/note`, { note: 'x' }),
    };
    for (const status of serviceStatuses) {
      for (const cancelled of [false, true]) {
        await sql(
          product,
          'update services set status = $2, cancelled = $3 where id = $1',
          id,
          status,
          cancelled,
        );
        const { actions } = await service();
        for (const [name, send] of Object.entries(ask)) {
          const answer = await send();
          const said = `${name} of one that is ${status}${cancelled ? ' and will end' : ''}`;
          const { allowed, reason, code } = actions[name];
          expect(
            [answer.status === 200, answer.body.code ?? null, answer.body.message ?? null],
            said,
          ).toEqual([allowed, code, reason]);
        }
      }
    }
    await sql(product, `update services set status = 'active', cancelled = false where id = $1`, id);
  });

  it('is shown to each role as it is enforced for it', async () => {
    const machine = `/dashboard/service/${id}/vps`;
    for (const role of ['owner', 'billing', 'technical', 'support', 'viewer'] as const) {
      const who = await newMember(product, owner.organizationId, role);
      const { actions } = (await who.get(path())).body.data.service;
      const { vps } = (await who.get(`${machine}/overview`)).body.data;
      // Refused for their role alone: with what is no body, or no cycle, nothing is done.
      const ask: Record<string, () => Promise<Response>> = {
        renew: () => who.post(`${path()}/renew`, { cycle: 'never' }),
        upgrade: () => who.post(`${path()}/upgrade`, {}),
        upgrade_vps: () => who.post(`${path()}/upgrade-vps`, { option1: 2, dry_run: true }),
        cancel: () => who.post(`${path()}/cancel`, { when: 'never' }),
        revoke_cancel: () => who.delete(`${path()}/cancel`),
        auto_renew: () => who.patch(path(), {}),
        move: () => who.post(`${path()}/move`, {}),
        note: () => who.patch(`${path()}/note`, {}),
        start: () => who.post(`${machine}/start`, { force: 'no' }),
        stop: () => who.post(`${machine}/stop`, { force: 'no' }),
        restart: () => who.post(`${machine}/restart`, { force: 'no' }),
        force_stop: () => who.post(`${machine}/stop`, { force: 'no' }),
        reinstall: () => who.post(`${machine}/reinstall`, {}),
        create_snapshot: () => who.post(`${machine}/snapshots`, {}),
        delete_snapshot: () => who.delete(`${machine}/snapshots/none`),
        restore_snapshot: () => who.post(`${machine}/snapshots/none/restore`, {}),
        reset_password: () => who.post(`${machine}/reset-password`, { password: 1 }),
        update_access: () => who.post(`${machine}/access`, {}),
        resize: () => who.post(`${path()}/upgrade-vps`, { option1: 2, dry_run: true }),
      };
      const shown = { ...actions, ...vps.actions };
      const said: Record<string, boolean> = {};
      const done: Record<string, boolean> = {};
      for (const [name, send] of Object.entries(ask)) {
        said[name] = shown[name].code === 'permission_denied';
        done[name] = (await send()).body.code === 'permission_denied';
      }
      expect(said, role).toEqual(done);
    }
  });

  it('names a reason and a code for whatever is refused, and neither for what is allowed', () => {
    const facts: fc.Arbitrary<Facts> = fc.record({
      moduleId: fc.integer({ min: 1, max: 5 }),
      onServer: fc.boolean(),
      status: fc.constantFrom(...serviceStatuses),
      provisioningState: fc.constantFrom('queued', 'running', 'done', 'failed'),
      cancelled: fc.boolean(),
      duedate: fc.constantFrom(null, '2027-01-01', '2027-01-02', '2027-01-03'),
    });
    fc.assert(
      fc.property(facts, (service) => {
        const actions = actionsOf(service, new Date('2027-01-02T12:00:00Z'), null);
        for (const name of serviceActions) {
          const { allowed, reason, code } = actions[name];
          expect([reason === null, code === null]).toEqual([allowed, allowed]);
          expect(reasonAgainst(name, service, '2027-01-02')?.message ?? null).toBe(reason);
        }
      }),
    );
  });
});
