import { Type } from 'typebox';
import { Id, ListQuery, listOf, named, SortBy, Strict } from '../../platform/http/index.ts';
import { Line, Place } from '../fields.ts';

export const Group = named(
  'StaffProductGroup',
  Type.Object({
    id: Id,
    name: Type.String(),
    position: Type.Integer({ description: 'Groups with lower ones come first' }),
    products: Type.Integer({ description: 'How many products are listed under it, hidden ones included' }),
  }),
  'A heading that products are listed under',
);

export const GroupData = named('ProductGroupAnswer', Type.Object({ product_group: Group }));
export const GroupList = named('ProductGroupList', listOf('product_groups', Group));
export const GroupQuery = ListQuery({ sort: SortBy(['position'], 'position') });
export const NewGroup = named(
  'NewProductGroup',
  Strict({ name: Line(100, 'Web hosting'), position: Type.Optional(Place) }),
);
export const GroupChange = named(
  'ProductGroupChange',
  Strict({ name: Type.Optional(Line(100, 'Web hosting')), position: Type.Optional(Place) }),
);
