import { useState } from 'react';
import { updateSettings } from '../../../client/generated/fields/updateSettings.ts';
import type { Schema } from '../../../client/index.ts';
import { brand, useBrand } from '../data/brand.ts';
import { client } from '../data/client.ts';
import { drawnOf, partOf } from '../data/drawn.ts';
import { choicesOf } from '../data/fields.ts';
import { queryClient } from '../data/queries/index.ts';
import { type Language, languages, useText } from '../text/index.ts';
import {
  BrandPreview,
  Choice,
  type Chosen,
  type Draft,
  Field,
  Fieldset,
  type Files,
  Form,
  LongField,
  Page,
  PictureField,
  Rows,
  rowsIn,
  Section,
  Text,
  type Values,
} from '../ui/index.ts';

const kinds = ['imprint', 'terms', 'privacy', 'status'] as const;
/** What the dashboard may be offered in, the first one for whoever speaks none of them. */
const offers: readonly (readonly Language[])[] = [['en', 'de'], ['de', 'en'], ['en'], ['de']];
const known = Object.keys(languages) as Language[];
const emptyPages = [
  ['services', 'brand.emptyServices'],
  ['invoices', 'brand.emptyInvoices'],
  ['tickets', 'brand.emptyTickets'],
] as const;
const pictures = ['logo_light', 'logo_dark', 'favicon'] as const;

/** How the company looks to customers, for staff to decide. */
export function Brand() {
  const { t } = useText();
  return (
    <Page title={t('brand.title')}>
      <BrandForm />
    </Page>
  );
}

const looks = partOf(
  drawnOf('/staff/settings'),
  ({ settings: { brand, company } }: Schema<'SettingsAnswer'>) => ({ brand, company }),
);

function BrandForm() {
  const { t } = useText();
  const shown = useBrand();
  const [draft, setDraft] = useState<Draft>({ ...shown, css: '' });
  const [isSaved, setSaved] = useState(false);
  const change = (part: Partial<Draft>) => {
    setSaved(false);
    setDraft((before) => ({ ...before, ...part }));
  };
  const save = async (values: Values, files: Files, ifMatch: string | undefined) => {
    const company = { colour: values['company.colour'] ?? null };
    const made = await client.patch('/staff/settings', {
      ifMatch,
      body: { brand: await changed(values, files), company },
    });
    setSaved(true);
    await queryClient.invalidateQueries({ queryKey: brand.queryKey });
    await queryClient.invalidateQueries({ queryKey: ['staff', 'settings'] });
    return { brand: made.settings.brand, company: made.settings.company };
  };
  return (
    <>
      <Section title={t('brand.preview')}>
        <BrandPreview draft={draft} />
      </Section>
      <Section title={t('brand.look')}>
        <Form
          fields={updateSettings}
          submit={t('brand.save')}
          of={looks}
          onSubmit={save}
          beside={isSaved && <Text role="status">{t('brand.saved')}</Text>}
        >
          {({ brand: now, company }) => (
            <>
              <Field
                name="brand.name"
                label={t('brand.name')}
                help={t('brand.nameHelp', { name: company.name })}
                required={false}
                defaultValue={now.name ?? ''}
                onType={(name) => change({ name: name || shown.name })}
              />
              <Field
                name="company.colour"
                label={t('brand.accent')}
                help={t('brand.accentHelp')}
                required={false}
                defaultValue={company.colour ?? ''}
                onType={(accent) => change({ accent })}
              />
              <Choice
                name="brand.font"
                label={t('brand.font')}
                choices={choicesOf(updateSettings['brand.font'], (value) => t(`font.${value}`))}
                defaultValue={now.font}
                onChoose={(font) => change({ font: font as Draft['font'] })}
              />
              <Field
                name="brand.radius"
                label={t('brand.radius')}
                inputMode="numeric"
                defaultValue={String(now.radius)}
                onType={(radius) => change({ radius: Number(radius) || 0 })}
              />
              {pictures.map((name) => (
                <PictureField
                  key={name}
                  name={`brand.${name}`}
                  label={t(`brand.${name}`)}
                  help={t(name === 'favicon' ? 'brand.pictureHelp' : 'brand.logoHelp')}
                  now={now[name] && `/api/brand/pictures/${now[name]}`}
                  remove={t('brand.remove')}
                  onChoose={(picture) => name !== 'favicon' && change({ [name]: picture })}
                />
              ))}
              {kinds.map((kind) => (
                <Field
                  key={kind}
                  name={`brand.links.${kind}`}
                  label={t(`brand.${kind}`)}
                  required={false}
                  defaultValue={now.links[kind] ?? ''}
                />
              ))}
              <Rows
                legend={t('brand.pages')}
                name="brand.pages"
                items={now.pages}
                most={6}
                add={t('brand.addPage')}
              >
                {(page, row) => (
                  <>
                    <Field name={`${row}.label`} label={t('brand.pageLabel')} defaultValue={page?.label} />
                    <Field
                      name={`${row}.url`}
                      label={t('brand.pageUrl')}
                      defaultValue={page?.url ?? 'https://'}
                    />
                  </>
                )}
              </Rows>
              <Choice
                name="brand.registration"
                label={t('brand.registration')}
                choices={choicesOf(updateSettings['brand.registration'], (value) => t(`brand.${value}`))}
                defaultValue={now.registration}
              />
              <Choice
                name="brand.languages"
                label={t('brand.languages')}
                help={t('brand.languagesHelp')}
                choices={offers.map((codes) => ({
                  value: codes.join(' '),
                  label: codes.map((code) => languages[code]).join(', '),
                }))}
                defaultValue={now.languages.join(' ')}
              />
              <Field
                name="brand.currency"
                label={t('brand.currency')}
                help={t('brand.currencyHelp')}
                defaultValue={now.currency}
              />
              <LongField
                name="brand.css"
                label={t('brand.css')}
                help={t('brand.cssHelp')}
                required={false}
                defaultValue={now.css ?? ''}
                onType={(css) => change({ css })}
              />
              <LongField
                name="brand.sign_in.en"
                label={t('brand.signInEn')}
                required={false}
                defaultValue={now.sign_in.en ?? ''}
              />
              <LongField
                name="brand.sign_in.de"
                label={t('brand.signInDe')}
                required={false}
                defaultValue={now.sign_in.de ?? ''}
              />
              {emptyPages.map(([page, legend]) => (
                <Fieldset key={page} legend={t(legend)}>
                  {known.map((code) => (
                    <LongField
                      key={code}
                      name={`brand.empty.${page}.${code}`}
                      label={languages[code]}
                      required={false}
                      defaultValue={now.empty[page][code] ?? ''}
                    />
                  ))}
                </Fieldset>
              ))}
            </>
          )}
        </Form>
      </Section>
    </>
  );
}

/** What was typed, as the section of the settings; pictures are kept first. */
async function changed(values: Values, files: Files) {
  const said = (name: string) => values[`brand.${name}`] ?? null;
  const wordsOf = (page: (typeof emptyPages)[number][0]) => ({
    en: said(`empty.${page}.en`),
    de: said(`empty.${page}.de`),
  });
  const kept: { [name in (typeof pictures)[number]]?: string | null } = {};
  for (const name of pictures) {
    const [chosen] = files[`brand.${name}`] ?? [];
    if (chosen !== undefined) kept[name] = await keep(chosen);
    else if (said(`${name}.remove`) !== null) kept[name] = null;
  }
  const [imprint, terms, privacy, status] = kinds.map((kind) => said(`links.${kind}`));
  return {
    ...kept,
    ...{ name: said('name'), font: said('font') as Draft['font'], radius: Number(said('radius')) },
    links: {
      imprint: imprint ?? null,
      terms: terms ?? null,
      privacy: privacy ?? null,
      status: status ?? null,
    },
    pages: rowsIn(values, 'brand.pages').map(({ label = '', url = '' }) => ({ label, url })),
    registration: said('registration') as 'everybody' | 'invited',
    sign_in: { en: said('sign_in.en'), de: said('sign_in.de') },
    empty: {
      services: wordsOf('services'),
      invoices: wordsOf('invoices'),
      tickets: wordsOf('tickets'),
    },
    languages: (said('languages') ?? 'en').split(' ') as Language[],
    currency: said('currency') ?? '',
    css: said('css'),
  };
}

async function keep({ content_base64 }: Chosen): Promise<string> {
  return (await client.post('/staff/brand/pictures', { body: { content_base64 } })).picture;
}
