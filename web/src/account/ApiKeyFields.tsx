import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { session } from '../data/queries/index.ts';
import { permissionKey, useText } from '../text/index.ts';
import { Field, Fieldset, LongField, Tick, type Values } from '../ui/index.ts';

type ApiKey = Schema<'ApiKey'>;
type Permission = Schema<'Permission'>;

export const keyAreas = ['billing', 'vps', 'shield'] as const;

const scopePrefix = 'scope ';
const organizationPrefix = 'organization ';

/** What a key is to be kept to, as its fields say it. */
export function limitsOf(values: Values, apiKey?: ApiKey | null) {
  const ticked = (prefix: string) =>
    Object.keys(values)
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
  const addresses = (values.ip_allowlist ?? '').split(/[\s,]+/).filter(Boolean);
  return {
    ...{ billing: 'billing' in values, vps: 'vps' in values, shield: 'shield' in values },
    scopes: 'some_scopes' in values ? (ticked(scopePrefix) as Permission[]) : null,
    organization_ids: 'some_organizations' in values ? ticked(organizationPrefix).map(Number) : null,
    ip_allowlist: addresses.length > 0 ? addresses : null,
    expires_at: endOf(values.expires_on, apiKey),
  };
}

/** The whole of the last day, by the clock of whoever chose it; a day that was not touched leaves the moment as it is. */
function endOf(day: string | undefined, apiKey: ApiKey | null | undefined): string | null {
  if (apiKey?.expires_at != null && day === lastDayOf(apiKey)) return apiKey.expires_at;
  return day === undefined ? null : new Date(`${day}T23:59:59`).toISOString();
}

/** The day of a key's end by the reader's clock, as a field for days takes it. */
function lastDayOf(apiKey?: ApiKey): string | undefined {
  if (apiKey?.expires_at == null) return undefined;
  const end = new Date(apiKey.expires_at);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${end.getFullYear()}-${two(end.getMonth() + 1)}-${two(end.getDate())}`;
}

export function ApiKeyFields({ apiKey }: { apiKey?: ApiKey }) {
  const { t } = useText();
  const { data: signedIn } = useQuery(session);
  const organizations = signedIn?.organizations ?? [];
  const scopes = [...new Set(organizations.flatMap(({ permissions }) => permissions))].sort() as Permission[];
  const [hasScopes, setScopes] = useState(apiKey?.scopes != null);
  const [hasOrganizations, setOrganizations] = useState(apiKey?.organization_ids != null);
  return (
    <>
      <Field
        name="name"
        label={t('organization.name')}
        help={t('apiKeys.nameHelp')}
        defaultValue={apiKey?.name}
      />
      <Fieldset legend={t('apiKeys.areas')}>
        {keyAreas.map((area) => (
          <Tick key={area} name={area} label={t(`area.${area}`)} defaultChecked={apiKey?.[area] ?? true} />
        ))}
      </Fieldset>
      <Tick name="some_scopes" label={t('apiKeys.someScopes')} isOn={hasScopes} onChange={setScopes} />
      {hasScopes && (
        <Fieldset legend={t('apiKeys.scopes')} name="scopes">
          {scopes.map((scope) => (
            <Tick
              key={scope}
              name={`${scopePrefix}${scope}`}
              label={`${t(`permission.${permissionKey(scope)}`)} (${scope})`}
              defaultChecked={apiKey?.scopes?.includes(scope)}
            />
          ))}
        </Fieldset>
      )}
      {(organizations.length > 1 || apiKey?.organization_ids != null) && (
        <Tick
          name="some_organizations"
          label={t('apiKeys.someOrganizations')}
          isOn={hasOrganizations}
          onChange={setOrganizations}
        />
      )}
      {hasOrganizations && (
        <Fieldset legend={t('apiKeys.organizations')} name="organization_ids">
          {organizations.map(({ id, name }) => (
            <Tick
              key={id}
              name={`${organizationPrefix}${id}`}
              label={name}
              defaultChecked={apiKey?.organization_ids?.includes(id)}
            />
          ))}
        </Fieldset>
      )}
      <LongField
        name="ip_allowlist"
        label={t('apiKeys.addresses')}
        help={t('apiKeys.addressesHelp')}
        required={false}
        rows={2}
        defaultValue={apiKey?.ip_allowlist?.join('\n')}
      />
      <Field
        name="expires_on"
        type="date"
        label={t('apiKeys.lastDay')}
        help={t('apiKeys.lastDayHelp')}
        required={false}
        defaultValue={lastDayOf(apiKey)}
      />
      {apiKey === undefined && <Tick name="test" label={t('apiKeys.testKey')} help={t('apiKeys.testHelp')} />}
    </>
  );
}
