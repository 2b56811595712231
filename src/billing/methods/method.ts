import type { PaymentProvider } from '../../config.ts';
import { statement } from '../../platform/index.ts';

/** A saved method, as far as its owner knows it. */
export interface MethodRow {
  id: number;
  organization_id: number;
  driver: PaymentProvider;
  reference: string;
  type: string;
  brand: string | null;
  last4: string | null;
  expires_month: number | null;
  expires_year: number | null;
  is_default: boolean;
  created_at: Date;
  removed_at: Date | null;
}

export const methodColumns = `id, organization_id, driver, reference, type, brand, last4, expires_month, expires_year, is_default,
  created_at, removed_at`;

/** All of an organization's, those that were removed too: whoever changes one holds all, in one order. */
export const lockMethods = statement<MethodRow, { organizationId: number }>(
  'billing.lockMethods',
  `select ${methodColumns} from payment_methods where organization_id = :organizationId order by id for update`,
);
export const methodById = statement<MethodRow, { id: number }>(
  'billing.methodById',
  `select ${methodColumns} from payment_methods where id = :id and removed_at is null`,
);
/** As people know it: `visa ending in 4242`. */
export function nameOfMethod({ brand, type, last4 }: Pick<MethodRow, 'brand' | 'type' | 'last4'>): string {
  const name = brand ?? type.replaceAll('_', ' ');
  return last4 === null ? name : `${name} ending in ${last4}`;
}

/** As the wire shows it. */
export function viewMethod(row: MethodRow) {
  return {
    id: row.id,
    type: row.type,
    brand: row.brand,
    last4: row.last4,
    expires_month: row.expires_month,
    expires_year: row.expires_year,
    is_default: row.is_default,
    created_at: row.created_at,
  };
}
