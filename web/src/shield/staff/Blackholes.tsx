import { updateShieldOrganization } from '../../../../client/generated/fields/updateShieldOrganization.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { choicesOf } from '../../data/fields.ts';
import { useText } from '../../text/index.ts';
import { Act, Choice } from '../../ui/index.ts';

/** Whether packets to an organization's addresses may be sent to nowhere during an attack. */
export function Blackholes({ organization: id }: { organization: number }) {
  const { t } = useText();
  const path = { id };
  return (
    <Act
      operation="updateShieldOrganization"
      fields={updateShieldOrganization}
      label={t('edges.blackholes')}
      text={t('edges.blackholesText')}
      of={drawnOf('/staff/shield/organizations/{id}', { path })}
      onAct={({ blackholes }, _files, ifMatch) =>
        client.patch('/staff/shield/organizations/{id}', {
          ifMatch,
          path,
          body: { blackholes: (blackholes ?? null) as Schema<'ShieldOrganization'>['blackholes'] },
        })
      }
    >
      {({ organization: { blackholes } }) => (
        <Choice
          name="blackholes"
          label={t('edges.blackholes')}
          help=""
          defaultValue={blackholes ?? ''}
          choices={[
            { value: '', label: t('edges.blackholes_own') },
            ...choicesOf(updateShieldOrganization.blackholes, (value) => t(`edges.blackholes_${value}`)),
          ]}
        />
      )}
    </Act>
  );
}
