import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { expect } from 'vitest';
import { runProgram } from '../../src/platform/host/program.ts';
import type { Person } from '../people.ts';
import type { TestProduct } from '../product.ts';

/** A proof of erasure as the API has it. */
interface Proof {
  erasure: object;
  signature: { jws: string; key_id: string; keys_url: string };
}

/** A library that nobody here wrote verifies it with the keys that we publish; of what was changed it verifies nothing. */
export async function requireSigned(
  product: TestProduct,
  { erasure, signature: { jws, key_id: keyId, keys_url: url } }: Proof,
): Promise<void> {
  const keys = await fetch(`${product.url}${new URL(url).pathname}`);
  expect(keys.headers.get('content-type')).toContain('application/jwk-set+json');
  const verify = createLocalJWKSet((await keys.json()) as JSONWebKeySet);
  const { payload, protectedHeader } = await compactVerify(jws, verify);
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: keyId });
  expect(JSON.parse(Buffer.from(payload).toString())).toMatchObject({
    ...{ iss: expect.stringMatching(/./), iat: expect.any(Number), erasure },
  });
  const [head, body = '', sign] = jws.split('.');
  const changed = Buffer.from(body, 'base64url').toString().replace('overwrite', 'sanitize-');
  const forged = [head, Buffer.from(changed).toString('base64url'), sign].join('.');
  await expect(compactVerify(forged, verify)).rejects.toThrow(/signature/);
}

/** What the proof of a service says on paper, in English, as other programs read it; a file inside it is what was signed. */
export async function printedProof(
  product: TestProduct,
  customer: Person,
  serviceId: number,
  jws: string,
): Promise<string> {
  const pdf = (query: string) =>
    fetch(`${product.url}/api/dashboard/service/${serviceId}/dedicated/erasure/pdf${query}`, {
      headers: { token: customer.key, 'x-organization-id': String(customer.organizationId) },
    });
  const dir = await mkdtemp(join(tmpdir(), 'innkeeper-proof-'));
  try {
    const file = join(dir, 'proof.pdf');
    const text = async () => (await runProgram(['pdftotext', '-layout', file, '-'])).stdout;
    for (const language of ['en', 'de']) {
      const answer = await pdf(`?language=${language}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
      await writeFile(file, Buffer.from(await answer.arrayBuffer()));
      expect((await runProgram(['qpdf', '--check', file])).stdout).toContain(
        'No syntax or stream encoding errors',
      );
      expect((await runProgram(['qpdf', '--show-attachment=erasure.jws', file])).stdout).toBe(jws);
      if (language === 'de') expect(await text()).toContain('Löschnachweis');
    }
    const answer = await pdf('');
    await writeFile(file, Buffer.from(await answer.arrayBuffer()));
    return await text();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
