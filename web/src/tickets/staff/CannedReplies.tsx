import { createCannedReply } from '../../../../client/generated/fields/createCannedReply.ts';
import { updateCannedReply } from '../../../../client/generated/fields/updateCannedReply.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { cannedReplies } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, ListPage, Named, NamedLong, useColumns, Written } from '../../ui/index.ts';

export function CannedReplies() {
  const { t } = useText();
  const columns = useColumns<Schema<'CannedReply'>>(['name', 'message', 'updated_at', 'actions'], {
    message: ({ message }) => <Written>{message}</Written>,
    actions: ({ id, name }) => (
      <Group gap="xs">
        <Act
          operation="updateCannedReply"
          fields={updateCannedReply}
          label={t('support.change')}
          of={drawnOf('/staff/canned-replies/{id}', { path: { id } })}
          onAct={(body, _files, ifMatch) =>
            client.patch('/staff/canned-replies/{id}', { ifMatch, path: { id }, body })
          }
        >
          {({ canned_reply: now }) => (
            <>
              <Named name="name" value={now.name} />
              <NamedLong name="message" value={now.message} />
            </>
          )}
        </Act>
        <Act
          operation="deleteCannedReply"
          label={t('staff.delete')}
          text={t('support.deleteCannedText', { name })}
          isDangerous
          onAct={() => client.delete('/staff/canned-replies/{id}', { path: { id } })}
        />
      </Group>
    ),
  });
  return (
    <ListPage
      title={t('staff.canned')}
      empty={t('empty.canned')}
      text={t('support.cannedText')}
      list={cannedReplies}
      columns={columns}
      aside={
        <Act
          operation="createCannedReply"
          fields={createCannedReply}
          label={t('support.newCanned')}
          isFirst
          size="sm"
          onAct={({ name = '', message = '' }) =>
            client.post('/staff/canned-replies', { body: { name, message } })
          }
        >
          <Named name="name" />
          <NamedLong name="message" help={t('support.cannedHelp')} />
        </Act>
      }
    />
  );
}
