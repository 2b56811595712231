import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asHtml } from '../src/events/mail/html.ts';
import { openLayout } from '../src/events/mail/layout.ts';
import { composeMail, type MailDeclaration } from '../src/events/mail/mail.ts';
import { allTexts, type Language, languages, openDictionary, variablesIn } from '../src/platform/index.ts';
import { allMails } from '../src/worker.ts';
import { samples } from './mails/samples.ts';

/** Where mails are written to, to be looked at. */
const shown = path.join(import.meta.dirname, '../var/mails');
const hostile =
  '<img src=x onerror=alert(1)>"\'&amp;</td>{{content}} $t(frame.why) {{name}}\r\nBcc: evil@example.com\u2028Subject: x';
const brand = {
  name: 'Example Hosting B.V.',
  colour: '#1b4965',
  logo: null,
  font: 'system-ui, sans-serif',
  radius: 8,
  imprint: ['1 Harbour Street', '1011 AB Amsterdam', 'billing@example.com'],
};
const recipient = { first_name: '~Ada', last_name: '~Lovelace', language: 'en', timezone: 'Europe/Vienna' };

/** A sample with its free texts as they are, or all hostile. */
function fill<T>(value: T, isHostile: boolean): T {
  const filled = JSON.stringify(value, (_, each) =>
    typeof each === 'string' && each.startsWith('~') ? (isHostile ? hostile : each.slice(1)) : each,
  );
  return JSON.parse(filled);
}

function render(mail: MailDeclaration, data: object, language: Language, isHostile = false) {
  const to = fill(recipient, isHostile);
  const reader = { language, timezone: 'Europe/Vienna', dictionary: openDictionary(null) };
  const subject = { type: 'thing', id: 4503599627370302 };
  const happened = { journalId: 1, subject, organizationId: 1, data: fill(data, isHostile) };
  const made = composeMail(mail.text(happened, reader), to, reader, brand, 'https://inn.example');
  const page = {
    ...made,
    ...{ language, brand, footer: ['Why'], unsubscribe: null, logo: null },
    urlOf: () => 'https://inn.example/page?token=aaaabbbbccccddddeeeeffff',
  };
  return { ...made, html: asHtml(page, openLayout(null)) };
}

const all = allMails.flatMap((mail) =>
  (samples[mail.event] ?? []).flatMap((data, nth) =>
    languages.map((language) => ({ mail, data, language, name: `${mail.event}${nth || ''}` })),
  ),
);
const tags = (html: string) => html.match(/<[^>]*>/g)?.map((tag) => tag.replace(/".*/s, ''));

beforeAll(() => {
  rmSync(shown, { recursive: true, force: true });
});

describe('every mail', () => {
  it('has a sample here', () => {
    expect(allMails.map(({ event }) => event).filter((event) => !(event in samples))).toEqual([]);
  });

  // A ticket that was closed asks whether that helped, by a link that nobody asked for.
  it('with a link that somebody waits for goes before those that only tell of something', () => {
    const links = all.filter(({ mail, data, language }) => render(mail, data, language).link !== null);
    const named = new Set(links.map(({ mail }) => mail.event));
    named.delete('ticket.customer_told');
    const awaited = allMails.filter(({ isAwaited }) => isAwaited).map(({ event }) => event);
    expect(awaited.sort()).toEqual([...named].sort());
  });

  it.each(languages)('is written in %s, to be looked at in var/mails', (language) => {
    const folder = path.join(shown, language);
    mkdirSync(folder, { recursive: true });
    for (const { mail, data, name } of all.filter((each) => each.language === language)) {
      const { subject, body, html } = render(mail, data, language);
      expect(subject, name).not.toBe('');
      expect(`${subject}${body}`, name).not.toMatch(/undefined|NaN|Invalid|\{\{|\[object/);
      writeFileSync(path.join(folder, `${name}.html`), html);
      writeFileSync(path.join(folder, `${name}.txt`), `Subject: ${subject}\n\n${body}`);
    }
  });

  it('has corners as round as the brand has them: its sheet, its buttons and what is copied', () => {
    const page = {
      ...{
        language: 'en',
        subject: 'Round',
        footer: ['Why'],
        unsubscribe: null,
        urlOf: () => '',
        logo: null,
      },
      blocks: [{ button: 'Go', url: 'https://inn.example' }, { code: 'innkeeper' }],
      brand: { ...brand, radius: 21 },
    };
    expect(asHtml(page, openLayout(null)).match(/border-radius:21px/g)).toHaveLength(3);
  });

  it('is another text in each language', () => {
    for (const { mail, data, name } of all.filter((each) => each.language === 'de'))
      expect(render(mail, data, 'de').body, name).not.toBe(render(mail, data, 'en').body);
  });

  it('is led astray by no name: the same markup, the same lines, nothing looked up', () => {
    for (const { mail, data, language, name } of all) {
      const [harmless, made] = [render(mail, data, language), render(mail, data, language, true)];
      expect(tags(made.html), name).toEqual(tags(harmless.html));
      expect(made.html, name).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;amp;');
      expect(made.body.split('\n').length, name).toBe(harmless.body.split('\n').length);
      expect(made.subject, name).not.toMatch(/[\p{Cc}\u2028]/u);
      expect(made.body, name).toContain('{{content}} $t(frame.why) {{name}}');
    }
  });

  it('leads to where its reader does what it asks for, in the organization that it is about', () => {
    const found = Object.fromEntries(
      all.map(({ mail, data, language, name }) => [name, pageOf(render(mail, data, language).body)]),
    );
    const [invoice, service] = ['/invoices/4503599627370302', '/services/4503599627370302'];
    expect(found).toMatchObject({
      ...{ 'invoice.created': invoice, 'invoice.created1': invoice, 'invoice.reminded': invoice },
      ...{ 'invoice.overdue': invoice, 'invoice.part_paid': invoice, 'invoice.expired': '/order' },
      ...{ 'service.provisioned': service, 'service.ending': service, 'service.suspended': service },
      ...{ 'service.price_change_announced': service, 'service.cancel_scheduled': service },
      ...{ 'ticket.customer_told': '/tickets/a1b2c3d4', 'ticket.customer_told3': '/tickets/a1b2c3d4' },
      ...{ 'session.opened': '/forgot-password', 'password.changed': '/forgot-password' },
      ...{ 'staff.told': '/staff', 'ticket.department_told': '/staff/tickets/a1b2c3d4' },
      ...{ 'tax_id.checked': '/billing/profile', 'payment_method.removed1': '/billing/payment-methods' },
      ...{ 'webhook.paused': '/developers/webhooks/4503599627370302', 'api_key.ending': '/developers' },
    });
    const there = ['routes.tsx', 'staffRoutes.tsx'].flatMap((file) => {
      const text = readFileSync(path.join(import.meta.dirname, '../web/src', file), 'utf8');
      return [...text.matchAll(/['(](\/[\w/$-]*)'/g)].map(([, page = '']) => page);
    });
    const pages = [...new Set(Object.values(found))].filter((page) => page !== null);
    expect(pages.length).toBeGreaterThan(10);
    const known = there.map((page) => new RegExp(`^${page.replace(/\$\w+/g, '[a-z0-9]+')}$`));
    expect(pages.filter((page) => known.every((each) => !each.test(page)))).toEqual([]);
  });

  // Filters count against a mail what frauds about parcels ask for, which the first mail somebody gets must not look like.
  it('asks nobody to say where they live', () => {
    const asked =
      /\b(confirm|send|tell|provide|give|let us know)\b( us)?( your| the)?( \w+)? (address|location)[.,;]/i;
    for (const { mail, data, language, name } of all)
      expect(render(mail, data, language).body.replaceAll('e-mail address', 'mailbox'), name).not.toMatch(
        asked,
      );
  });

  it('asks no other host for anything', () => {
    for (const { mail, data, language, name } of all)
      expect(render(mail, data, language).html, name).not.toMatch(/<img|<link|<script|url\(|@import|src=/);
  });
});

/** Where the last button of a mail leads; of another organization than the one that it is about nobody sees it. */
function pageOf(body: string): string | null {
  const url = /^https:\/\/inn\.example(\/\S+)$/m.exec(body)?.[1];
  if (url === undefined) return null;
  expect(url.endsWith('?organization=1'), url).toBe(!url.startsWith('/staff'));
  return url.replace('?organization=1', '');
}

describe('the dictionary', () => {
  it('speaks to people: of no request, and of no field by its name', () => {
    const forPrograms = [...allTexts()].flatMap(([room, languagesOf]) =>
      Object.entries(languagesOf).flatMap(([language, groups]) =>
        Object.entries(groups).flatMap(([group, texts]) =>
          Object.entries(texts)
            .filter(([, text]) =>
              /\/api\/|\b(GET|POST|PATCH) |\b[a-z]+_[a-z]+\b/.test(text.replace(/\{\{.*?\}\}/g, '')),
            )
            .map(([key, text]) => `${room}.${language}.${group}.${key}: ${text}`),
        ),
      ),
    );
    expect(forPrograms).toEqual([]);
  });

  it('has the same variables in every language', () => {
    const different = [...allTexts()].flatMap(([room, { en, ...others }]) =>
      Object.entries(en).flatMap(([group, texts]) =>
        Object.entries(texts).flatMap(([key, text]) =>
          Object.values(others)
            .map((other) => other[group]?.[key] ?? '')
            .filter((other) => `${[...variablesIn(other)].sort()}` !== `${[...variablesIn(text)].sort()}`)
            .map((other) => `${room}.${group}.${key}: ${text} | ${other}`),
        ),
      ),
    );
    expect(different).toEqual([]);
  });
});

describe("a provider's own words", () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  function folder(files: Record<string, string>): string {
    const made = mkdtempSync(path.join(tmpdir(), 'innkeeper-texts-'));
    folders.push(made);
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(made, name), text);
    return made;
  }
  const german = (room: object) => folder({ 'de.json': JSON.stringify(room) });

  it('stand for ours, and ours for all they leave out', () => {
    const dictionary = openDictionary(german({ events: { frame: { greeting: 'Servus {{name}}!' } } }));
    const say = (lng: string, key: string) =>
      dictionary.t(key, { lng, ns: 'events', replace: { name: 'Ada' } });
    expect(say('de', 'frame.greeting')).toBe('Servus Ada!');
    expect(say('en', 'frame.greeting')).toBe('Hello Ada,');
    expect(say('de', 'frame.unsubscribe')).toBe('Abbestellen');
  });

  it.each([
    [{ nowhere: {} }, /de\.json: nowhere is none of .*billing/],
    [{ events: { frame: { greting: 'x' } } }, /events\.frame\.greting is no text of this version/],
    [{ events: { __proto__x: { toString: 'x' } } }, /is no text of this version/],
    [
      { events: { frame: { greeting: 'Hallo {{vorname}}' } } },
      /greeting uses \{\{vorname\}\}; it takes name/,
    ],
    [{ events: { frame: { greeting: 1 } } }, /events\.frame\.greeting has to be a text/],
    [{ events: ['x'] }, /events has to be an object/],
  ])('are refused by name when they fit nothing: %j', (words, message) => {
    expect(() => openDictionary(german(words))).toThrow(message);
  });

  it('are refused when they cannot be read', () => {
    expect(() => openDictionary('/nowhere/at/all')).toThrow(/TEXTS_DIR \/nowhere\/at\/all cannot be read/);
    expect(() => openDictionary(folder({ 'en.json': '{' }))).toThrow(/en\.json is no JSON/);
  });

  it('may be put in a layout of their own, which has a place for what has to be there', () => {
    const own = folder({ 'mail.html': '<b>{{company}}</b>{{content}}<hr>{{footer}}' });
    expect(openLayout(own)).toContain('<hr>');
    const strange = folder({ 'mail.html': '{{content}}{{footer}}{{stamp}}' });
    expect(() => openLayout(strange)).toThrow(/mail\.html uses \{\{stamp\}\}; it may use/);
    expect(() => openLayout(folder({ 'mail.html': '{{content}}' }))).toThrow(/lacks \{\{footer\}\}/);
  });
});
