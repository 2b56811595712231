import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newMember, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { forgetSignIns } from '../../account/index.ts';
import { settleRestore } from '../../platform/index.ts';
import { expireInvitations, roles } from '../index.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const at = (person: { organizationId: number }, rest = '') =>
  `/dashboard/organizations/${person.organizationId}/invitations${rest}`;
const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const accept = '/dashboard/invitations/accept';
let made = 0;
const newAddress = () => `guest${++made}@example.com`;

async function invited(owner: Person, email: string, role = 'technical'): Promise<number> {
  const answer = await owner.post(at(owner), { email, role });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.invitation.id;
}

async function mailsTo(email: string): Promise<{ subject: string; body: string }[]> {
  await settled(product);
  return (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body.data.mails;
}

/** The token of the newest mail to an address. */
async function tokenTo(email: string): Promise<string> {
  const [mail] = await mailsTo(email);
  return /\/invitation\?token=([\w-]+)/.exec(mail?.body ?? '')?.[1] ?? '';
}

describe('an invitation', () => {
  it('brings whoever has the address in by the link of its mail, once', async () => {
    const owner = await newCustomer(product);
    const guest = await newCustomer(product);
    const id = await invited(owner, guest.email.toUpperCase());
    const listed = (await owner.get(at(owner))).body.data.invitations;
    expect(listed).toMatchObject([
      { id, role: 'technical', expired: false, invited_by: { id: owner.userId, first_name: 'Test' } },
    ]);
    const { members } = (await owner.get(`/dashboard/organizations/${owner.organizationId}/members`)).body
      .data;
    expect(members.map(({ status }: { status: string }) => status)).toEqual(['active', 'invited']);
    expect(members[1]).toMatchObject({ user: { id: null, first_name: null }, joined_at: null });

    const token = await tokenTo(guest.email.toUpperCase());
    const { body } = await guest.post(accept, { token });
    expect(body.data.organization).toMatchObject({ id: owner.organizationId, role: 'technical' });
    expect(body.data.organization.permissions).toContain('vps.power');
    const headers = { 'x-organization-id': String(owner.organizationId) };
    expect((await guest.get('/dashboard/services', headers)).status).toBe(200);
    await settled(product);
    const before = await contents(product);
    expect(face(await guest.post(accept, { token }))).toEqual([400, 'invalid_link']);
    expect(await contents(product)).toEqual(before);
    expect((await owner.get(at(owner))).body.data.invitations).toEqual([]);
  });

  it('is told of to whoever sent it once it is accepted, as long as they are a member', async () => {
    const [owner, guest, late] = [await newCustomer(product), await newCustomer(product), newAddress()];
    const inviter = await newMember(product, owner.organizationId, 'admin');
    await invited(inviter, guest.email);
    expect(await mailsTo(inviter.email)).toEqual([]);
    expect((await guest.post(accept, { token: await tokenTo(guest.email) })).status).toBe(200);
    const [mail] = await mailsTo(inviter.email);
    expect(mail?.subject).toContain('was accepted');
    expect(mail?.body).toContain(guest.email);
    expect((await mailsTo(owner.email)).filter(({ subject }) => /was accepted/.test(subject))).toEqual([]);

    await invited(inviter, late);
    await sql(product, 'delete from memberships where user_id = $1', inviter.userId);
    const another = await newCustomer(product);
    await sql(product, 'update users set email = $2 where id = $1', another.userId, late);
    expect((await another.post(accept, { token: await tokenTo(late) })).status).toBe(200);
    expect(await mailsTo(inviter.email)).toHaveLength(1);
  });

  it('has a mail that is the same for an address with an account and one without', async () => {
    const owner = await newCustomer(product);
    const [known, unknown] = [(await newCustomer(product)).email, newAddress()];
    const answers = await Promise.all(
      [known, unknown].map((email) => owner.post(at(owner), { email, role: 'viewer' })),
    );
    const shape = (answer: (typeof answers)[number]) => ({
      ...{ status: answer.status, keys: Object.keys(answer.body.data.invitation) },
    });
    expect(answers.map(shape)[0]).toEqual(answers.map(shape)[1]);
    const plain = async (email: string) =>
      (await mailsTo(email)).map(({ subject, body }) => [subject, body.replace(/token=\S+/, 'token=')]);
    expect(await plain(known)).toEqual(await plain(unknown));
    expect((await plain(known))[0]?.[1]).toContain('"Test Person" invites you to act for the organization');
  });

  it('is good for the address that it was sent to, confirmed, and for nobody else', async () => {
    const owner = await newCustomer(product);
    const [guest, thief] = [await newCustomer(product), await newCustomer(product)];
    const id = await invited(owner, guest.email);
    const token = await tokenTo(guest.email);
    await settled(product);
    const before = await contents(product);
    expect(face(await thief.post(accept, { token }))).toEqual([403, 'invitation_for_another']);
    expect(face(await product.nobody.post(accept, { token }))).toEqual([401, 'unauthorized']);
    for (const wrong of ['x', `${token}x`, token.toUpperCase(), thief.key])
      expect(face(await guest.post(accept, { token: wrong }))).toEqual([400, 'invalid_link']);
    // Of one kind as another: neither opens what the other does.
    expect(face(await product.nobody.post('/auth/email/verify', { token }))).toEqual([400, 'invalid_link']);
    const reset = { token, password: 'correct horse battery' };
    expect(face(await product.nobody.post('/auth/password/reset', reset))).toEqual([400, 'invalid_link']);
    expect(await contents(product)).toEqual(before);
    await sql(product, 'update users set email_verified = false where id = $1', guest.userId);
    expect(face(await guest.post(accept, { token }))).toEqual([403, 'email_unverified']);
    await sql(product, 'update users set email_verified = true where id = $1', guest.userId);
    await sql(product, 'update api_keys set billing = false where user_id = $1', guest.userId);
    product.clock.travel(1_000); // so long whoever asked is remembered
    expect(face(await guest.post(accept, { token }))).toEqual([403, 'permission_denied']);
    const session = await signedIn(product, guest);
    expect((await session.post(accept, { token })).status).toBe(200);
    expect(face(await owner.get(at(owner, `/${id}`)))).toEqual([404, 'not_found']);
  });

  it('expires, is sent again with another link, and is withdrawn', async () => {
    const owner = await newCustomer(product);
    const guest = await newCustomer(product);
    const id = await invited(owner, guest.email);
    const first = await tokenTo(guest.email);
    product.clock.travel(7 * 86_400_000);
    expect(face(await guest.post(accept, { token: first }))).toEqual([400, 'invalid_link']);
    expect((await owner.get(at(owner, `/${id}`))).body.data.invitation.expired).toBe(true);

    const again = await owner.post(at(owner, `/${id}/resend`));
    expect(again.body.data.invitation).toMatchObject({ id, expired: false });
    const second = await tokenTo(guest.email);
    expect(second).not.toBe(first);
    expect(face(await guest.post(accept, { token: first }))).toEqual([400, 'invalid_link']);

    expect((await owner.delete(at(owner, `/${id}`))).body.data).toEqual({ withdrawn: true });
    expect(face(await guest.post(accept, { token: second }))).toEqual([400, 'invalid_link']);
    expect(face(await owner.delete(at(owner, `/${id}`)))).toEqual([404, 'not_found']);
    const stored = JSON.stringify(await contents(product));
    for (const token of [first, second]) expect(stored).not.toContain(token);
  });

  it('ends with the right of who sent it to invite: nobody comes back by an address of their own', async () => {
    const owner = await newCustomer(product);
    const admins: Person[] = [];
    for (let nth = 0; nth < 3; nth += 1) admins.push(await newMember(product, owner.organizationId, 'admin'));
    const [removed, lowered] = admins as [Person, Person, Person];
    const emails = admins.map(newAddress);
    const ids: number[] = [];
    for (const [nth, admin] of admins.entries()) ids.push(await invited(admin, emails[nth] ?? '', 'admin'));
    // Whoever sends it again stands for it from then on.
    const again = newAddress();
    const adopted = await invited(removed, again);
    expect((await owner.post(at(owner, `/${adopted}/resend`))).status).toBe(200);
    const tokens = await Promise.all(emails.map(tokenTo));

    const members = `/dashboard/organizations/${owner.organizationId}/members`;
    expect((await owner.delete(`${members}/${removed.userId}`)).status).toBe(200);
    expect((await owner.patch(`${members}/${lowered.userId}`, { role: 'billing' })).status).toBe(200);
    const listed = (await owner.get(at(owner))).body.data.invitations;
    expect(listed.map(({ email }: { email: string }) => email).toSorted()).toEqual(
      [emails[2], again].toSorted(),
    );
    const join = async (email: string, token: string) => {
      const person = await newCustomer(product);
      await sql(product, 'update users set email = $2 where id = $1', person.userId, email);
      return face(await person.post(accept, { token }));
    };
    expect([
      await join(emails[0] ?? '', tokens[0] ?? ''),
      await join(emails[1] ?? '', tokens[1] ?? ''),
    ]).toEqual([
      [400, 'invalid_link'],
      [400, 'invalid_link'],
    ]);
    expect((await join(emails[2] ?? '', tokens[2] ?? ''))[0]).toBe(200);
    expect((await join(again, await tokenTo(again)))[0]).toBe(200);
    const rows = await sql<{ subject_id: number }>(
      product,
      `select subject_id from journal where action = 'invitation.withdrawn' and organization_id = $1 order by id`,
      owner.organizationId,
    );
    expect(rows.map(({ subject_id }) => Number(subject_id))).toEqual([ids[0], ids[1]]);
  });

  it('is forgotten a month after it expired', async () => {
    const owner = await newCustomer(product);
    await invited(owner, newAddress());
    product.clock.travel(36 * 86_400_000);
    await product.periodic('organizations.purgeInvitations');
    expect((await owner.get(at(owner))).body.data.total).toBe(1);
    product.clock.travel(2 * 86_400_000);
    await product.periodic('organizations.purgeInvitations');
    expect((await owner.get(at(owner))).body.data.total).toBe(0);
  });

  it('opens nothing after a restore, until it is sent again', async () => {
    const owner = await newCustomer(product);
    const guest = await newCustomer(product);
    const id = await invited(owner, guest.email);
    const token = await tokenTo(guest.email);
    await sql(product, `insert into restores (made_at, restored_at) values (now(), now())`);
    await settleRestore(product.ctx, [], async (tx) => {
      await forgetSignIns(tx);
      await expireInvitations(tx);
    });
    expect(face(await guest.post(accept, { token }))).toEqual([400, 'invalid_link']);
    await owner.post(at(owner, `/${id}/resend`));
    expect((await guest.post(accept, { token: await tokenTo(guest.email) })).status).toBe(200);
  });

  it('is made by owners and administrators, for members no, twice no, as owner no; else nothing changes', async () => {
    const owner = await newCustomer(product);
    const email = newAddress();
    const id = await invited(owner, email);
    const people = await Promise.all(
      roles.map(async (role) => [role, await newMember(product, owner.organizationId, role)] as const),
    );
    await settled(product);
    const before = await contents(product);
    for (const [role, person] of people) {
      if (role === 'owner' || role === 'admin') continue;
      const wish = { email: newAddress(), role: 'viewer' };
      const tries = [
        await person.post(at(owner), wish),
        await person.get(at(owner)),
        await person.get(at(owner, `/${id}`)),
        await person.post(at(owner, `/${id}/resend`)),
        await person.delete(at(owner, `/${id}`)),
      ];
      for (const answer of tries) expect(face(answer), role).toEqual([403, 'permission_denied']);
    }
    const wrong: [object | string, number, string][] = [
      [{ email: people[3]?.[1].email.toUpperCase(), role: 'viewer' }, 409, 'already_member'],
      [{ email: email.toUpperCase(), role: 'viewer' }, 409, 'already_invited'],
      [{ email: newAddress(), role: 'owner' }, 400, 'invalid_request'],
      [{ email: newAddress(), role: 'admin', staff_role: 'administrator' }, 400, 'invalid_request'],
      [{ email: newAddress(), role: 'admin', organization_id: 1 }, 400, 'invalid_request'],
      [{ email: 'a@example.com\r\nbcc: b@example.com', role: 'viewer' }, 400, 'invalid_request'],
      [{ email: 'аda@example.com', role: 'viewer' }, 400, 'invalid_request'],
      [{ email: newAddress() }, 400, 'invalid_request'],
    ];
    for (const [body, status, code] of wrong)
      expect(face(await owner.post(at(owner), body)), JSON.stringify(body)).toEqual([status, code]);
    expect(await contents(product)).toEqual(before);
    const stranger = await newCustomer(product);
    const foreign = `/dashboard/organizations/${stranger.organizationId}/invitations/${id}`;
    expect(face(await stranger.delete(foreign))).toEqual([403, 'forbidden']);
    expect(face(await stranger.post(`${foreign}/resend`))).toEqual([403, 'forbidden']);
  });

  it('of which there are a hundred leaves room for no more', async () => {
    const owner = await newCustomer(product);
    await sql(
      product,
      `insert into invitations (id, organization_id, email, role, hash, sendings, invited_by, sent_at, expires_at, created_at)
       select $1::bigint + n, $1, 'many' || n || '@example.com', 'viewer', sha256(convert_to($1 || 'x' || n, 'UTF8')), 1,
         $2, now(), now(), now() from generate_series(1, 100) n`,
      ...[owner.organizationId, owner.userId],
    );
    const answer = await owner.post(at(owner), { email: newAddress(), role: 'viewer' });
    expect(face(answer)).toEqual([409, 'too_many']);
  });

  it('tells names in its mail that begin no line of their own', async () => {
    const owner = await newCustomer(product, { firstName: 'Eve\r\nBcc: x@example.com' });
    // As an organization that is older than the rule of names may be called.
    await sql(
      product,
      'update organizations set name = $1 where id = $2',
      'A\nSubject: B',
      owner.organizationId,
    );
    const email = newAddress();
    await invited(owner, email);
    const [mail] = await mailsTo(email);
    expect(mail?.subject).toBe(
      '"Eve  Bcc: x@example.com Person" invites you to "A Subject: B"'.replace('  ', ' '),
    );
    expect(mail?.body).not.toMatch(/^(Bcc|Subject):/m);
  });
});

describe('at once', () => {
  it('two acceptances of one invitation make one member', async () => {
    for (const _ of [0, 1, 2]) {
      const owner = await newCustomer(product);
      const guest = await newCustomer(product);
      await invited(owner, guest.email);
      const token = await tokenTo(guest.email);
      const answers = await Promise.all([1, 2, 3, 4].map(() => guest.post(accept, { token })));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
      const rows = await sql(
        product,
        `select id from journal where organization_id = $1 and action = 'member.joined'`,
        owner.organizationId,
      );
      expect(rows.length).toBe(1);
    }
  });

  it('an acceptance and a withdrawal: one of them happens', async () => {
    for (const _ of [0, 1, 2]) {
      const owner = await newCustomer(product);
      const guest = await newCustomer(product);
      const id = await invited(owner, guest.email);
      const token = await tokenTo(guest.email);
      const [accepted, withdrawn] = await Promise.all([
        guest.post(accept, { token }),
        owner.delete(at(owner, `/${id}`)),
      ]);
      expect([accepted.status, withdrawn.status].toSorted()).toEqual(
        accepted.status === 200 ? [200, 404] : [200, 400],
      );
    }
  });

  it('two invitations of one address make one', async () => {
    const owner = await newCustomer(product);
    const wish = { email: newAddress(), role: 'viewer' };
    const answers = await Promise.all([1, 2, 3].map(() => owner.post(at(owner), wish)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['acceptInvitation']));
