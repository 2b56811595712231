import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { addServer } from '../../../../client/generated/fields/addServer.ts';
import type { Schema } from '../../../../client/index.ts';
import { racks } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Fieldset, Named, NamedChoice, NamedLong } from '../../ui/index.ts';

export type Typed = Partial<Record<string, string>>;

/** What staff says of a server; `now` is what is said of it already. */
export function ServerFields({ now }: { now?: Schema<'Server'> }) {
  const { t } = useText();
  const bmc = now?.bmc;
  return (
    <>
      <Named name="name" value={now?.name} />
      <Named name="serial" value={now?.serial} />
      <RackChoice value={now?.rack_id} />
      <Named name="unit" value={now?.unit} isOptional />
      <Named name="height" value={now?.height ?? 1} />
      <NamedLong name="macs" value={now?.macs.join('\n')} help={t('racks.macsHelp')} isOptional />
      <Fieldset legend={t('field.bmc')} name="bmc">
        <BmcKind value={bmc?.kind} />
        <Named name="address" as="bmc.address" value={bmc?.address} isOptional />
        <Named name="port" as="bmc.port" value={bmc?.port} isOptional />
        <Named name="user_name" as="bmc.user" value={bmc?.user} isOptional />
        <Named
          name="password"
          as="bmc.password"
          type="password"
          help={t(now === undefined ? 'racks.passwordHelp' : 'racks.anotherPasswordHelp')}
          isOptional
        />
        <Named name="certificate" as="bmc.certificate" value={bmc?.certificate} isOptional />
      </Fieldset>
      <NamedLong name="note" value={now?.note} isOptional />
    </>
  );
}

function BmcKind({ value }: { value: string | undefined }) {
  const { t } = useText();
  const kinds = addServer['bmc.kind'].choices.map((kind) => ({ value: kind, label: t(`racks.bmc_${kind}`) }));
  return <NamedChoice name="kind" as="bmc.kind" of={kinds} value={value} isOptional />;
}

/** Every rack there is. */
export function RackChoice({ value }: { value: number | null | undefined }) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(racks({ limit: 100 }));
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const all = data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <NamedChoice
      key={all.length}
      name="rack_id"
      value={value}
      of={all.map(({ id, name, location }) => ({ value: String(id), label: `${name}, ${location}` }))}
      isOptional
    />
  );
}

/** What was typed, as a request says it; a BMC of which nothing was typed is none. */
export function askedOf(typed: Typed): Schema<'NewServer'> {
  const { name = '', serial = '', rack_id: rackId, unit, height, macs = '', note } = typed;
  return {
    ...{ name, serial, height: Number(height), note: note || null },
    ...{ rack_id: rackId ? Number(rackId) : null, unit: unit ? Number(unit) : null },
    macs: macs.split(/[\s,]+/).filter((mac) => mac !== ''),
    bmc: bmcIn(typed),
  };
}

const partsOfBmc = ['kind', 'address', 'port', 'user', 'password', 'certificate'] as const;

function bmcIn(typed: Typed): Schema<'NewServerBmc'> | null {
  const parts = partsOfBmc.map((name) => [name, typed[`bmc.${name}`] ?? ''] as const);
  if (parts.every(([, value]) => value === '')) return null;
  const { kind, port, certificate, ...said } = Object.fromEntries(parts) as Record<
    (typeof partsOfBmc)[number],
    string
  >;
  return {
    ...{ kind: kind as Schema<'BmcKind'>, ...said },
    ...{ port: port ? Number(port) : null, certificate: certificate || null },
  };
}

/** The same of one that is known: its BMC is left out where nothing of it was changed. */
export function changeOf(typed: Typed, { bmc: before }: Schema<'Server'>): Schema<'ServerChange'> {
  const { bmc = null, ...rest } = askedOf(typed);
  const isSame =
    bmc?.password === '' &&
    (['kind', 'address', 'port', 'user', 'certificate'] as const).every(
      (name) => bmc[name] === before?.[name],
    );
  return isSame || (bmc === null && before === null) ? rest : { ...rest, bmc };
}
