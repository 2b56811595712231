import { createProductGroup } from '../../../../client/generated/fields/createProductGroup.ts';
import { updateProductGroup } from '../../../../client/generated/fields/updateProductGroup.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { productGroups } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, ListPage, Named, useColumns } from '../../ui/index.ts';

export function ProductGroups() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffProductGroup'>>(['name', 'position', 'products', 'actions'], {
    actions: ({ id }) => (
      <Act
        operation="updateProductGroup"
        fields={updateProductGroup}
        label={t('support.change')}
        of={drawnOf('/staff/product-groups/{id}', { path: { id } })}
        onAct={({ name, position }, _files, ifMatch) =>
          client.patch('/staff/product-groups/{id}', {
            ifMatch,
            path: { id },
            body: { name, position: Number(position) },
          })
        }
      >
        {({ product_group: { name, position } }) => (
          <>
            <Named name="name" value={name} />
            <Named name="position" value={position} />
          </>
        )}
      </Act>
    ),
  });
  return (
    <ListPage
      title={t('staff.groups')}
      empty={t('empty.groups')}
      list={productGroups}
      columns={columns}
      aside={
        <Act
          operation="createProductGroup"
          fields={createProductGroup}
          label={t('money.newGroup')}
          size="sm"
          isFirst
          onAct={({ name = '' }) => client.post('/staff/product-groups', { body: { name } })}
        >
          <Named name="name" />
        </Act>
      }
    />
  );
}
