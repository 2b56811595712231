import { useState } from 'react';
import { updateProduct } from '../../../../client/generated/fields/updateProduct.ts';
import type { Schema } from '../../../../client/index.ts';
import { drawnOf, partOf } from '../../data/drawn.ts';
import { money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import type en from '../../text/staff/staff.en.json';
import { Act, Choice, Field, Group, Rows, rowsIn, Tick, type Values } from '../../ui/index.ts';
import { changeProduct, HavingTrial } from './Having.tsx';

export type Option = Schema<'StaffProduct'>['options'][number];
type Key = keyof (typeof en)['optionKey'];

/** What options are called on the wire, and by what name invoices and the API know the usual ones. */
const usualNames: Record<Key, string> = {
  option1: 'memory_gb',
  option2: 'storage_gb',
  option3: 'cpu_cores',
  option4: 'ipv4_count',
  option5: 'ipv6_count',
  option6: 'operating_system',
  option7: 'port_speed',
  option8: 'location',
};

/** The body's only option: what is wrong with it is named so. */
const at = 'options[0]';

interface OptionsProps {
  product: Schema<'StaffProduct'>;
}

export function NewOption({ product }: OptionsProps) {
  const { t } = useText();
  const taken = new Set([...product.options, ...product.retired_options].map(({ key }) => key));
  const free = (Object.keys(usualNames) as Key[]).filter((key) => !taken.has(key));
  if (free.length === 0) return null;
  return (
    <Act
      operation="updateProduct"
      fields={updateProduct}
      label={t('money.newOption')}
      text={t('money.newOptionText')}
      onAct={(values) => changeProduct(product.id, changeIn(values))}
    >
      <OptionFields free={free} />
      <HavingTrial product={product} change={changeIn} />
    </Act>
  );
}

/** What staff does with an option that is there. */
export function OptionActs({ product, option }: OptionsProps & { option: Option }) {
  const { t } = useText();
  const { key } = option;
  const isRetired = product.retired_options.includes(option);
  const change = (values: Values) => changeIn({ ...values, [`${at}.key`]: key });
  const optionIn = ({ product: now }: { product: Schema<'StaffProduct'> }) =>
    [...now.options, ...now.retired_options].find((each) => each.key === key);
  return (
    <Group gap="xs">
      <Act
        operation="updateProduct"
        fields={updateProduct}
        label={t('support.change')}
        text={t('money.optionText')}
        of={partOf(drawnOf('/staff/products/{id}', { path: { id: product.id } }), optionIn)}
        onAct={(values, _files, ifMatch) => changeProduct(product.id, change(values), ifMatch)}
      >
        {(now) => (
          <>
            <OptionFields of={now ?? option} />
            <HavingTrial product={product} change={change} />
          </>
        )}
      </Act>
      <Act
        operation="updateProduct"
        fields={updateProduct}
        label={t(isRetired ? 'money.offerAgain' : 'money.retire')}
        text={t(isRetired ? 'money.offerAgainText' : 'money.retireText')}
        isDangerous={!isRetired}
        onAct={() => changeProduct(product.id, { options: [{ key: key as Key, retired: !isRetired }] })}
      >
        <HavingTrial
          product={product}
          change={() => ({ options: [{ key: key as Key, retired: !isRetired }] })}
        />
      </Act>
    </Group>
  );
}

function OptionFields({ of: option, free = [] }: { of?: Option; free?: readonly Key[] }) {
  const { t } = useText();
  const [key, setKey] = useState<Key>(free[0] ?? 'option1');
  const [kind, setKind] = useState(option?.kind ?? 'integer');
  return (
    <>
      {option === undefined && (
        <>
          <Choice
            name={`${at}.key`}
            label={t('field.option')}
            help={t('money.optionKeyHelp')}
            choices={free.map((value) => ({ value, label: `${t(`optionKey.${value}`)} (${value})` }))}
            onChoose={(value) => setKey(value as Key)}
          />
          <Choice
            name="kind"
            label={t('field.kind')}
            choices={[
              { value: 'integer', label: t('money.asNumber') },
              { value: 'choice', label: t('money.asChoice') },
            ]}
            onChoose={(value) => setKind(value as Option['kind'])}
          />
        </>
      )}
      <Field
        key={`label ${key}`}
        name={`${at}.label`}
        label={t('field.label')}
        defaultValue={option?.label ?? t(`optionKey.${key}`)}
        autoComplete="off"
      />
      <Field
        key={`name ${key}`}
        name={`${at}.name`}
        label={t('field.name')}
        help={t('money.optionNameHelp')}
        defaultValue={option?.name ?? usualNames[key]}
        autoComplete="off"
      />
      {kind === 'integer' ? <Bounds of={option} /> : <Choices of={option} />}
      <Tick name={`${at}.required`} label={t('money.required')} defaultChecked={option?.required ?? true} />
      {option !== undefined && <input type="hidden" name="kind" value={kind} />}
    </>
  );
}

function Bounds({ of: option }: { of?: Option | undefined }) {
  const { t } = useText();
  const number = (name: 'min' | 'max' | 'step', value: number | null | undefined) => (
    <Field
      name={`${at}.${name}`}
      label={t(`field.${name}`)}
      inputMode="numeric"
      defaultValue={value?.toString()}
      autoComplete="off"
    />
  );
  return (
    <>
      <Group grow gap="sm" align="start">
        {number('min', option?.min)}
        {number('max', option?.max)}
        {number('step', option?.step ?? 1)}
      </Group>
      <Field
        name={`${at}.unit_price`}
        label={t('field.unit_price')}
        help={t('money.unitHelp')}
        defaultValue={option?.unit_price ?? '0.00'}
        autoComplete="off"
      />
    </>
  );
}

function Choices({ of: option }: { of?: Option | undefined }) {
  const { t } = useText();
  return (
    <Rows
      legend={t('field.values')}
      name={`${at}.values`}
      add={t('money.newValue')}
      items={option?.values ?? [null]}
    >
      {(value, row) => (
        <>
          <Field
            name={`${row}.value`}
            label={t('field.value')}
            defaultValue={value?.value}
            autoComplete="off"
          />
          <Field
            name={`${row}.label`}
            label={t('field.label')}
            defaultValue={value?.label}
            autoComplete="off"
          />
          <Field
            name={`${row}.price`}
            label={t('field.price')}
            required={false}
            defaultValue={value?.price}
            autoComplete="off"
          />
        </>
      )}
    </Rows>
  );
}

/** What was typed, as the change of the product that it is. */
function changeIn(values: Values): Schema<'ProductChange'> {
  const said = (name: string) => values[`${at}.${name}`];
  const number = (name: string) => {
    const text = said(name);
    return text === undefined ? undefined : Number(text);
  };
  const common = {
    ...{ key: said('key') as Key, name: said('name'), label: said('label') },
    required: said('required') !== undefined,
  };
  if (values.kind === 'choice') {
    const typed = rowsIn(values, `${at}.values`);
    const choices = typed.map(({ value = '', label = '', price }) => ({ value, label, price }));
    return { options: [{ ...common, values: choices }] };
  }
  return {
    options: [
      {
        ...common,
        ...{ min: number('min'), max: number('max'), step: number('step'), unit_price: said('unit_price') },
      },
    ],
  };
}

/** What can be chosen, in a line. */
export function useBounds(currency: string): (option: Option) => string {
  const { t, language } = useText();
  return ({ kind, min, max, step, values, unit_price: price }) => {
    if (kind === 'choice')
      return values
        .map(({ label, price }) =>
          Number(price) === 0
            ? label
            : t('money.choicePrice', { label, price: money(price, currency, language) }),
        )
        .join(' · ');
    const bounds = t((step ?? 1) === 1 ? 'money.bounds' : 'money.inSteps', { min, max, step });
    if (price === null || Number(price) === 0) return bounds;
    return `${bounds} · ${t('money.eachMore', { price: money(price, currency, language), min })}`;
  };
}
