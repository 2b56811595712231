import { useMutation } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { erasedDisks } from '../../data/queries/staff/index.ts';
import { saveFile } from '../../data/saveFile.ts';
import { methodWord } from '../../dedicated/Erasure.tsx';
import { bytes } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Button, Group, LinkTo, ListPage, Refusal, useColumns } from '../../ui/index.ts';

type Disk = Schema<'StaffErasedDisk'>;

/** Every disk of which a proof says that it was wiped, with the proofs themselves. */
export function Erasures() {
  const { t, language } = useText();
  const columns = useColumns<Disk>(
    ['ended_at', 'serial', 'model', 'bytes', 'method', 'server', 'service_id', 'organization_id', 'proof'],
    {
      bytes: (disk) => bytes(disk.bytes, language),
      method: ({ method }) => {
        const word = methodWord(method);
        return word === null ? (method ?? '–') : t(word);
      },
      server: ({ server_id: id, server }) => (
        <LinkTo to="/staff/servers/$id" params={{ id: String(id) }}>
          {server}
        </LinkTo>
      ),
      service_id: ({ service_id: id }) => (
        <LinkTo to="/staff/services/$id" params={{ id: String(id) }}>
          {String(id)}
        </LinkTo>
      ),
      organization_id: ({ organization_id: id }) => (
        <LinkTo to="/staff/organizations/$id" params={{ id: String(id) }}>
          {String(id)}
        </LinkTo>
      ),
      proof: (disk) => <Proof of={disk} />,
    },
  );
  return (
    <ListPage
      title={t('staff.erasures')}
      text={t('racks.erasuresText')}
      list={erasedDisks}
      filters={[{ name: 'search' }, { name: 'server_id' }, { name: 'service_id' }]}
      columns={columns}
      empty={t('empty.erasures')}
    />
  );
}

function Proof({ of: { proof_id: id, service_id: service } }: { of: Disk }) {
  const { language } = useText();
  const path = { id };
  const fetchJson = useMutation({
    mutationFn: async () => {
      const proof = await client.get('/staff/erasures/{id}', { path });
      const text = JSON.stringify(proof, null, 2);
      await saveFile(
        new Response(text, { headers: { 'content-type': 'application/json' } }),
        `erasure-${service}.json`,
      );
    },
  });
  const fetchPdf = useMutation({
    mutationFn: async () =>
      saveFile(
        await client.file('/staff/erasures/{id}/pdf', { path, query: { language } }),
        `erasure-${service}.pdf`,
      ),
  });
  return (
    <>
      <Group gap="xs">
        <Button size="xs" variant="default" loading={fetchJson.isPending} onClick={() => fetchJson.mutate()}>
          JSON
        </Button>
        <Button size="xs" variant="default" loading={fetchPdf.isPending} onClick={() => fetchPdf.mutate()}>
          PDF
        </Button>
      </Group>
      <Refusal error={fetchJson.error ?? fetchPdf.error} />
    </>
  );
}
