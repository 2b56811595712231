/** Lists, facts and forms that are described by the names of the API's fields. */
export { Act } from './Act.tsx';
export { type Filter, ListPage, StaffList } from './ListPage.tsx';
export { Named, NamedChoice, NamedLong, OwnCurrency } from './Named.tsx';
export { useAuditColumns } from './staffAudit.tsx';
export { FullIn } from './staffFullIn.tsx';
export { Thing } from './Thing.tsx';
export { Unfold } from './Unfold.tsx';
export { Facts, type FieldName, useColumns, useShow, useWord, Written } from './Value.tsx';
