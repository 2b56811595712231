import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanName } from './name.ts';
import { lieOf, typeOf } from './type.ts';

describe('the name of an attachment', () => {
  it.each([
    ['photo.png', 'photo.png'],
    ['Übersicht 2026 (final) 🦊.pdf', 'Übersicht 2026 (final) 🦊.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ana\\shot.png', 'shot.png'],
    ['a\r\nX-Y: z\u0000.txt', 'aX-Y_ z.txt'],
    ['invoice\u202egpj.exe', 'invoicegpj.exe'],
    ['\u2066hidden\u2069\u200b\ufeff.txt', 'hidden.txt'],
    ['CON', '_CON'],
    ['nul.txt', '_nul.txt'],
    ['com1 .log', '_com1 .log'],
    ['LPT\u00b2.log', '_LPT\u00b2.log'],
    ['console.log', 'console.log'],
    ['a<b>c:"d|e?f*.txt', 'a_b_c__d_e_f_.txt'],
    ['.htaccess', 'htaccess'],
    ['trailing. . .', 'trailing'],
    ['half \ud83e.txt', 'half .txt'],
    ['', 'attachment'],
    ['///', 'attachment'],
    [' . ', 'attachment'],
  ])('%j becomes %j', (name, clean) => {
    expect(cleanName(name)).toBe(clean);
  });

  it('is short, whole letters, and keeps its ending', () => {
    const clean = cleanName(`${'👩‍👩‍👧'.repeat(100)}.jpeg`);
    expect(Buffer.byteLength(clean)).toBeLessThanOrEqual(200);
    expect(clean).toMatch(/^(👩‍👩‍👧)+\.jpeg$/u);
  });

  it('is one that every system takes, whatever it was, and stays what it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const clean = cleanName(name);
        expect(clean).not.toMatch(/(?![\u200c\u200d])[\p{Cc}\p{Cf}/\\<>:"|?*]|^[. ]|[. ]$/u);
        expect(Buffer.byteLength(clean)).toBeGreaterThan(0);
        expect(Buffer.byteLength(clean)).toBeLessThanOrEqual(201);
        expect(clean.isWellFormed()).toBe(true);
        expect(cleanName(clean)).toBe(clean);
      }),
    );
  });
});

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const exe = Buffer.concat([Buffer.from('MZ'), Buffer.alloc(510, 3)]);

describe('the type of an attachment', () => {
  it.each([
    [png, 'image/png'],
    [Buffer.from('%PDF-1.7\n'), 'application/pdf'],
    [Buffer.from('<?xml version="1.0"?><svg/>'), 'text/plain'],
    [Buffer.from('<html><script>alert(1)</script>'), 'text/plain'],
    [Buffer.from('häuser\n'), 'text/plain'],
    [Buffer.from([0xe4, 0x0a]), 'application/octet-stream'],
    [Buffer.alloc(0), 'text/plain'],
    [Buffer.alloc(100), 'application/octet-stream'],
  ])('is read from its bytes', async (bytes, type) => {
    expect(await typeOf(bytes, true)).toBe(type);
  });

  it('is a text also where a letter is cut in two by how much was looked at', async () => {
    expect(await typeOf(Buffer.from('ä').subarray(0, 1), false)).toBe('text/plain');
    expect(await typeOf(Buffer.from('ä').subarray(0, 1), true)).toBe('application/octet-stream');
  });

  it.each([
    ['image/png', 'photo.png', 'image/png'],
    ['image/png', 'photo.jpg', 'image/jpeg'],
    ['text/plain', 'list.csv', 'application/vnd.ms-excel'],
    ['text/plain', 'main.ts', 'video/mp2t'],
    ['text/plain', 'page.html', 'text/html'],
    ['text/plain', 'logo.svg', 'image/svg+xml'],
    ['application/octet-stream', 'old.txt', 'text/plain'],
    ['application/octet-stream', 'dump.bin', 'application/octet-stream'],
    [
      'application/zip',
      'report.docx',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    ['application/rtf', 'letter.unknown', null],
    ['image/png', 'attachment', undefined],
  ])('%s called %s and said to be %s is no lie', (type, name, claimedType) => {
    expect(lieOf(type, { name, claimedType })).toBeNull();
  });

  it.each([
    ['text/plain', 'photo.png', 'image/png'],
    ['text/plain', 'photo', 'image/png'],
    ['image/png', 'notes.txt', 'text/plain'],
    ['image/png', 'photo.png', 'text/html'],
    ['application/octet-stream', 'report.pdf', null],
    ['text/plain', 'all.zip', 'application/octet-stream'],
  ])('%s called %s and said to be %s is one', (type, name, claimedType) => {
    expect(lieOf(type, { name, claimedType })).toMatch(/^is /);
  });

  it('of a program that is called a picture is found out', async () => {
    expect(lieOf(await typeOf(exe, true), { name: 'photo.png' })).toBe('is called .png, and is none');
  });
});
