import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { eventNames } from '../data/events.ts';
import { useText } from '../text/index.ts';
import { Field, Fieldset, Tick, type Values } from '../ui/index.ts';

const prefix = 'event ';

/** The events that were ticked; null for all, those that come later too. */
export function chosenEvents(values: Values): string[] | null {
  if (!('some_events' in values)) return null;
  return Object.keys(values)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
}

export function WebhookFields({ webhook }: { webhook?: Schema<'Webhook'> }) {
  const { t } = useText();
  const [isSome, setSome] = useState(webhook?.events != null);
  return (
    <>
      <Field name="url" label={t('webhooks.url')} help={t('webhooks.urlHelp')} defaultValue={webhook?.url} />
      <Field
        name="description"
        label={t('webhooks.description')}
        required={false}
        defaultValue={webhook?.description}
      />
      <Tick name="some_events" label={t('webhooks.someEvents')} isOn={isSome} onChange={setSome} />
      {isSome && (
        <Fieldset legend={t('webhooks.events')} name="events">
          {eventNames.map((name) => (
            <Tick
              key={name}
              name={`${prefix}${name}`}
              label={name}
              defaultChecked={webhook?.events?.includes(name)}
            />
          ))}
        </Fieldset>
      )}
    </>
  );
}
