import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { noted, notesIn } from './machine.ts';
import { packed, sealed, unpacked, unsealed } from './packed.ts';

const secret = '0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0';
const value = { passwordHash: '$6$a$b', authorizedKeys: ['ssh-ed25519 AAAA ä'], userData: null };

describe('what is sealed', () => {
  it('is read by who has the secret, and by nobody else', () => {
    const text = sealed(secret, value);
    expect(unsealed(secret, text)).toEqual(value);
    expect(unsealed('another', text)).toBeNull();
    expect(Buffer.from(text, 'base64').toString('latin1')).not.toMatch(/\$6\$|ssh-ed25519/);
    expect(sealed(secret, value)).not.toBe(text);
  });

  it.each(['', 'AAAA', 'not base64 at all', 'A'.repeat(200)])(
    'is nothing where somebody wrote %j instead',
    (text) => {
      expect(unsealed(secret, text)).toBeNull();
    },
  );

  it('is nothing once a bit of it was changed', () => {
    const bytes = Buffer.from(sealed(secret, value), 'base64');
    for (const at of [0, 12, 28, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(unsealed(secret, changed.toString('base64')), String(at)).toBeNull();
    }
  });
});

describe('notes at a machine', () => {
  const notes = { image: 'debian', identity: null, seed: 'a.iso', secrets: 'abc' };

  it('are found again beside what else is written there', () => {
    const description = `${noted(notes)}\nour best customer\n`;
    expect(notesIn({ name: 'test-1', description })).toEqual(notes);
    expect(unpacked(packed(notes))).toEqual(notes);
  });

  it('leave secrets out that there is no room for, and refuse what is longer still', () => {
    const long = randomBytes(9_000).toString('base64');
    const description = noted({ ...notes, secrets: long });
    expect(description.length).toBeLessThanOrEqual(8_192);
    expect(notesIn({ name: 'test-1', description })).toEqual({ ...notes, secrets: null });
    expect(() => noted({ ...notes, image: long })).toThrow(expect.objectContaining({ code: 'spec_invalid' }));
  });

  it.each(['innkeeper:', 'innkeeper:AAAA', 'innkeeper:e30='])(
    'that say %j were changed by hand, which is no bug of ours',
    (description) => {
      expect(() => notesIn({ name: 'test-1', description })).toThrow(
        expect.objectContaining({
          code: 'host_not_ready',
          message: expect.stringContaining('test-1 were changed by hand'),
        }),
      );
    },
  );

  it('are none where nobody wrote any', () => {
    expect(notesIn({ name: 'test-1', description: 'web server' })).toMatchObject({
      seed: null,
      identity: null,
    });
  });
});
