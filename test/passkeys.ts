import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { newId } from '../src/platform/index.ts';
import type { TestProduct } from './product.ts';
import { sql } from './sql.ts';

/** What a device is asked for, as our options say it. */
interface Asked {
  challenge: string;
  user?: { id: string };
}

/** What a device does other than it should. */
export interface Mischief {
  origin?: string;
  rpId?: string;
  challenge?: string;
  counter?: number;
  type?: string;
  userHandle?: string | null;
  /** Whether it did not make sure who uses it. */
  isUnverified?: boolean;
  crossOrigin?: boolean;
  /** Signs with another key than it made. */
  key?: KeyObject;
}

const present = 0x01;
const verified = 0x04;
const isNew = 0x40;

/** A device that keeps one passkey and says what a browser would, written after WebAuthn and not after our code. */
export function newDevice(product: TestProduct) {
  const { hostname, origin } = new URL(product.ctx.config.publicUrl);
  const home = { origin, rpId: hostname };
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  let userHandle: string | null = null;
  let counter = 0;

  const clientData = (type: string, challenge: string, wrong: Mischief) =>
    Buffer.from(
      JSON.stringify({
        ...{ type: wrong.type ?? type, challenge: wrong.challenge ?? challenge },
        ...{ origin: wrong.origin ?? home.origin, crossOrigin: wrong.crossOrigin ?? false },
      }),
    );
  const authenticatorData = (flags: number, wrong: Mischief, more = Buffer.alloc(0)) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(wrong.counter ?? counter);
    const party = createHash('sha256')
      .update(wrong.rpId ?? home.rpId)
      .digest();
    const said = flags | present | (wrong.isUnverified ? 0 : verified);
    return Buffer.concat([party, Buffer.of(said), count, more]);
  };
  const named = { id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' };

  return {
    privateKey,
    /** Makes the passkey; `statement` is what an attestation would say. */
    make(options: Asked, wrong: Mischief = {}, statement = new Map<string, unknown>()) {
      userHandle = options.user?.id ?? null;
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const coordinate = (text: string) => Buffer.from(text, 'base64url');
      const cose = new Map<number, unknown>([
        ...([
          [1, 2],
          [3, -7],
          [-1, 1],
        ] as const),
        ...([
          [-2, coordinate(x)],
          [-3, coordinate(y)],
        ] as const),
      ]);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const authData = authenticatorData(
        isNew,
        wrong,
        Buffer.concat([Buffer.alloc(16), length, id, cbor(cose)]),
      );
      const attestation = new Map<string, unknown>([
        ...([
          ['fmt', statement.size > 0 ? 'packed' : 'none'],
          ['attStmt', statement],
        ] as const),
        ...([['authData', authData]] as const),
      ]);
      return {
        ...named,
        response: {
          clientDataJSON: clientData('webauthn.create', options.challenge, wrong).toString('base64url'),
          attestationObject: cbor(attestation).toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    /** Shows the passkey. */
    show(options: Asked, wrong: Mischief = {}) {
      counter += 1;
      const client = clientData('webauthn.get', options.challenge, wrong);
      const data = authenticatorData(0, wrong);
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return {
        ...named,
        clientExtensionResults: {},
        authenticatorAttachment: 'platform',
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: sign('sha256', signed, wrong.key ?? privateKey).toString('base64url'),
          userHandle: wrong.userHandle === undefined ? userHandle : wrong.userHandle,
        },
      };
    },
  };
}

/** As much of CBOR (RFC 8949) as an attestation needs. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  if (value instanceof Map)
    return Buffer.concat([
      head(5, value.size),
      ...[...value].flatMap(([key, each]) => [cbor(key), cbor(each)]),
    ]);
  throw new Error(`not written as CBOR: ${typeof value}`);
}

function head(kind: number, size: number): Buffer {
  if (size < 24) return Buffer.of((kind << 5) | size);
  if (size < 256) return Buffer.of((kind << 5) | 24, size);
  return Buffer.of((kind << 5) | 25, size >> 8, size & 255);
}

/** A passkey that no device has, for tests of what is around it. */
export async function plantPasskey(product: TestProduct, userId: number): Promise<number> {
  const id = newId();
  await sql(
    product,
    `insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports, synced, created_at)
     values ($1, $2, 'Phone', $3, '', 0, '{}', true, $4)`,
    ...[id, userId, randomBytes(16), product.clock.now()],
  );
  return id;
}
