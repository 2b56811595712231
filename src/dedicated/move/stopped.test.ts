import { describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { type Another, movingBed } from '../../../test/rack/moving.ts';
import type { RentedPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';

const bed = movingBed();
const {
  staff,
  serverOf,
  moveOf,
  another,
  asked,
  readAction,
  ended,
  isFree,
  plugged,
  rented,
  startedMute,
  waitsTooLong,
} = bed;

/** What staff is told of the service of a server that is off. */
async function told({ serviceId }: RentedPlayed): Promise<string[]> {
  const { concerns } = (await staff().get('/staff/attention')).body.data;
  return concerns
    .filter(
      (each: { kind: string; subject: { id: number } }) =>
        each.kind === 'dedicated.move_stopped' && each.subject.id === serviceId,
    )
    .map(({ message }: { message: string }) => message);
}
const isTold = (server: RentedPlayed) =>
  until(
    () => told(server),
    (messages) => messages.length > 0,
    60_000,
  );
const isOn = async (server: RentedPlayed) => {
  await until(
    async () => [server.bmc.power, bed.world.greets.has(server.ip)],
    ([power, greets]) => power === 'on' && greets === true,
    60_000,
  );
  await settled(bed.world.product);
};
const offForNow =
  'Your server is off for the moment: something here does not answer, and our staff has been told';

/** Of two that a service moves between, whichever goes on while the other one is. */
function neverBoth(server: RentedPlayed, to: Another): string[] {
  const both: string[] = [];
  for (const [one, other] of [
    [server, to],
    [to, server],
  ] as const) {
    const { changed } = one.bmc;
    one.bmc.changed = (power, from) => {
      if (power === 'on' && from === 'disk' && other.bmc.power === 'on')
        both.push(`${one.name} beside ${other.name}`);
      changed?.(power, from);
    };
  }
  return both;
}

/** A move whose other server was started and does not greet, while the one before is off. Gives its action. */
async function started(server: RentedPlayed, to: Another): Promise<number> {
  const id = await startedMute(server, to);
  expect([server.bmc.power, to.bmc.power]).toEqual(['off', 'on']);
  return id;
}

describe('a service whose move comes to no end is not off without a word', () => {
  it('while its switch is silent, and is on again once that answers', async () => {
    const server = await rented();
    const to = await another(server);
    const it = await plugged(server, to, [101, 102]);
    const id = await started(server, to);
    it.failing.isSilent = true;
    waitsTooLong();
    const [message] = await isTold(server);
    expect(message).toMatch(/is off: nothing is heard of .*have the switch answer/);
    expect(await readAction(server, id)).toMatchObject({ status: 'running', note: offForNow });
    expect((await bed.customer.post(`${server.path}/start`, {})).body.code).toBe('locked');
    expect((await moveOf(server.id)).last.problem).toMatch(/have the switch answer/);
    expect([server.bmc.power, to.bmc.power]).toEqual(['off', 'off']);
    it.failing.isSilent = false;
    expect(await ended(server, id)).toMatchObject({ status: 'error' });
    expect(it.ports.map(({ vlan }) => vlan)).toEqual([101, 102]);
    await isOn(server);
    expect(await told(server)).toEqual([]);
  }, 180_000);

  it('while its switch is gone for good, until staff has set its VLANs by hand and says so', async () => {
    const server = await rented();
    const to = await another(server);
    const it = await plugged(server, to, [101, 102]);
    const id = await started(server, to);
    it.failing.isSilent = true;
    waitsTooLong();
    await isTold(server);
    for (const port of ['eth1', 'eth2'])
      expect((await staff().post(`/staff/switches/${it.id}/plug`, { port, mac: null })).status).toBe(200);
    expect(await ended(server, id)).toMatchObject({ status: 'error' });
    await isOn(server);
  }, 180_000);

  it('when its job is left to staff, and is on again when that is retried', async () => {
    const server = await rented();
    const to = await another(server);
    const it = await plugged(server, to, [101, 102]);
    const id = await started(server, to);
    const passphrase = it.authPassphrase;
    it.authPassphrase = 'another-one-1';
    waitsTooLong();
    expect((await ended(server, id)).error.message).toMatch(
      /it is off for the moment, and our staff has been told$/,
    );
    const [job] = await sql<{ id: number; state: string }>(
      bed.world.product,
      `select id, state from jobs where name = 'dedicated.move' and payload ->> 'serviceId' = $1`,
      String(server.serviceId),
    );
    expect([job?.state, server.bmc.power]).toEqual(['stuck', 'off']);
    it.authPassphrase = passphrase;
    expect((await staff().post(`/staff/jobs/${job?.id}/retry`)).status).toBe(200);
    await isOn(server);
    expect(it.ports.map(({ vlan }) => vlan)).toEqual([101, 102]);
    expect(await told(server)).toEqual([]);
  }, 180_000);

  it('while the BMC of its own server is silent, and is on again once that answers', async () => {
    const server = await rented();
    const to = await another(server);
    const id = await started(server, to);
    server.bmc.failing = { silent: 'before' };
    waitsTooLong();
    expect((await ended(server, id)).error.message).toMatch(/is switched on again where it was on$/);
    expect(server.bmc.power).toBe('off');
    server.bmc.failing = {};
    await isOn(server);
    // One that its customer had off stays off.
    const off = await bed.customer.post(`${server.path}/stop`, { force: true });
    await ended(server, off.body.data.action.id);
    const again = await another(server);
    again.does = { isMute: true };
    const second = await asked(server);
    await until(
      async () => again.bmc.power === 'on' && (await readAction(server, second)).progress >= 90,
      Boolean,
      60_000,
    );
    waitsTooLong();
    await ended(server, second);
    await settled(bed.world.product);
    expect([server.bmc.power, again.bmc.power]).toEqual(['off', 'off']);
  }, 240_000);
});

describe('two servers never run with the addresses of one service', () => {
  it('when the BMC of the new one falls silent once it was started: the one before waits until it is off', async () => {
    const server = await rented();
    const to = await another(server);
    const both = neverBoth(server, to);
    const id = await started(server, to);
    to.bmc.failing = { silent: 'before' };
    waitsTooLong();
    const [message] = await isTold(server);
    expect(message).toMatch(
      new RegExp(
        `is off: ${to.name} was started with the addresses .* cannot be switched off: .*pull its power and then put it into quarantine`,
      ),
    );
    expect(await readAction(server, id)).toMatchObject({ status: 'running', note: offForNow });
    expect([server.bmc.power, to.bmc.power, (await serverOf(to.id)).state]).toEqual(['off', 'on', 'held']);
    to.bmc.failing = {};
    expect(await ended(server, id)).toMatchObject({ status: 'error' });
    await isOn(server);
    expect([to.bmc.power, both, (await serverOf(to.id)).state]).toEqual(['off', [], 'quarantined']);
  }, 180_000);

  it('nor when it never answers again: staff pulls its power and puts it into quarantine', async () => {
    const server = await rented();
    const to = await another(server);
    const both = neverBoth(server, to);
    const id = await started(server, to);
    to.bmc.failing = { silent: 'before' };
    waitsTooLong();
    await isTold(server);
    // Also after its action was ended by a suspension nobody has the server before on.
    await staff().post(`/staff/services/${server.serviceId}/suspend`, { reason: 'It attacks others' });
    expect((await ended(server, id)).status).toBe('error');
    await staff().post(`/staff/services/${server.serviceId}/unsuspend`);
    expect((await bed.customer.post(`${server.path}/start`, {})).body.code).toBe('locked');
    to.bmc.power = 'off';
    to.bmc.changed?.('off', null);
    const aside = await staff().post(`/staff/servers/${to.id}/quarantine`, { reason: 'Its power is pulled' });
    expect(aside.status, JSON.stringify(aside.body)).toBe(200);
    await isOn(server);
    expect([both, (await serverOf(to.id)).move_service_id]).toEqual([[], null]);
    expect(await told(server)).toEqual([]);
  }, 180_000);

  it('and it goes on at once where the new one is alone in a VLAN of its own', async () => {
    const server = await rented();
    const to = await another(server);
    const it = await plugged(server, to, [101, 102]);
    const id = await started(server, to);
    to.bmc.failing = { silent: 'before' };
    waitsTooLong();
    expect(await ended(server, id)).toMatchObject({ status: 'error' });
    await isOn(server);
    expect(it.ports.map(({ vlan }) => vlan)).toEqual([101, 102]);
    expect(await serverOf(to.id)).toMatchObject({
      ...{ state: 'quarantined', reason: expect.stringMatching(/cannot be switched off: pull its power/) },
    });
  }, 180_000);

  it('and nobody waits for one that fell silent before it was told to start', async () => {
    const server = await rented();
    const to = await another(server);
    const { changed } = server.bmc;
    server.bmc.changed = (power, from) => {
      if (power === 'off') to.bmc.failing = { silent: 'before' };
      changed?.(power, from);
    };
    const id = await asked(server);
    expect(await ended(server, id)).toMatchObject({ status: 'error' });
    server.bmc.changed = changed;
    await isOn(server);
    expect([to.bmc.power, (await serverOf(to.id)).state]).toEqual(['off', 'quarantined']);
  }, 180_000);
});

it('staff calls a move off by putting the new server into quarantine', async () => {
  const server = await rented();
  const to = await another(server);
  const starts = server.bmc.starts.length;
  to.does = {
    at: async (step) => {
      if (step !== 'write') return;
      to.does = { hangs: 1 };
      const aside = await staff().post(`/staff/servers/${to.id}/quarantine`, {
        reason: 'It is the wrong one',
      });
      expect(aside.status, JSON.stringify(aside.body)).toBe(200);
    },
  };
  expect(await ended(server, await asked(server))).toMatchObject({
    status: 'error',
    error: { code: 'called_off' },
  });
  expect((await isFree(to.id, 'quarantined')).reason).toMatch(/^It is the wrong one/);
  await settled(bed.world.product);
  expect([to.bmc.power, server.bmc.power, server.bmc.starts.length]).toEqual(['off', 'on', starts]);
}, 120_000);
