import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { updateServiceNote } from '../../../client/generated/fields/updateServiceNote.ts';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { drawnOf, partOf } from '../data/drawn.ts';
import { useText } from '../text/index.ts';
import { Alert, Form, LongField, Reason, Text } from '../ui/index.ts';

/** What the organization writes down of a service, for itself. */
export function Note({ owned }: { owned: Schema<'Service'> }) {
  const { t } = useText();
  const queries = useQueryClient();
  const [isSaved, setSaved] = useState(false);
  const { allowed } = owned.actions.note;
  if (!allowed)
    return (
      <Alert color="orange">
        <Reason {...owned.actions.note} />
      </Alert>
    );
  return (
    <Form
      fields={updateServiceNote}
      submit={t('app.save')}
      of={partOf(
        drawnOf('/dashboard/services/{id}/note', { path: { id: owned.id } }),
        ({ service }) => service.note,
      )}
      beside={isSaved && <Text role="status">{t('app.saved')}</Text>}
      onSubmit={async ({ note = null }, _files, ifMatch) => {
        setSaved(false);
        const made = await client.patch('/dashboard/services/{id}/note', {
          path: { id: owned.id },
          ifMatch,
          body: { note },
        });
        await queries.invalidateQueries({ queryKey: ['services'] });
        setSaved(true);
        return made.service.note;
      }}
    >
      {(now) => (
        <LongField
          name="note"
          label={t('services.note')}
          help={t('contract.noteHelp')}
          required={false}
          defaultValue={now ?? ''}
        />
      )}
    </Form>
  );
}
