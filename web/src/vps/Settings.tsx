import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { updateVpsSettings } from '../../../client/generated/fields/updateVpsSettings.ts';
import { client } from '../data/client.ts';
import { drawnOf } from '../data/drawn.ts';
import { choicesOf } from '../data/fields.ts';
import { useText } from '../text/index.ts';
import { Choice, Field, Form, Section, Text, Tick } from '../ui/index.ts';

/** How a machine is set up. */
export function Settings() {
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const { t } = useText();
  const queries = useQueryClient();
  const [isSaved, setSaved] = useState(false);
  return (
    <Form
      fields={updateVpsSettings}
      submit={t('app.save')}
      beside={isSaved && <Text role="status">{t('app.saved')}</Text>}
      of={drawnOf('/dashboard/service/{id}/vps/settings', { path: { id } })}
      onSubmit={async (values, _files, ifMatch, { settings: found }) => {
        setSaved(false);
        const made = await client.patch('/dashboard/service/{id}/vps/settings', {
          path: { id },
          ifMatch,
          body: {
            // A name that stays is no renaming, which would have to wait for the machine.
            ...(values.hostname !== found.hostname && { hostname: values.hostname ?? '' }),
            boot_order: values.boot_order === 'network' ? 'network' : 'disk',
            nameservers: values.nameservers?.split(/[\s,]+/).filter((each) => each !== '') ?? [],
            rescue: values.rescue !== undefined,
            auto_backup: {
              enabled: values['auto_backup.enabled'] !== undefined,
              hour: Number(values['auto_backup.hour']),
              keep: Number(values['auto_backup.keep']),
            },
            protection: {
              delete: values['protection.delete'] !== undefined,
              reinstall: values['protection.reinstall'] !== undefined,
            },
          },
        });
        await queries.invalidateQueries({ queryKey: ['vps', id] });
        setSaved(true);
        return made;
      }}
    >
      {({ settings: found }) => (
        <>
          <Section title={t('settings.system')}>
            <Field
              name="hostname"
              label={t('order.hostname')}
              help={t('order.hostnameHelp')}
              defaultValue={found.hostname}
            />
            <Field
              name="nameservers"
              label={t('settings.nameservers')}
              help={t('settings.nameserversHelp')}
              required={false}
              defaultValue={found.nameservers.join(', ')}
            />
            <Choice
              name="boot_order"
              label={t('settings.boot')}
              help={t('settings.bootHelp')}
              defaultValue={found.boot_order}
              choices={choicesOf(updateVpsSettings.boot_order, (value) => t(`settings.${value}`))}
            />
            <Tick
              name="rescue"
              label={t('settings.rescue')}
              help={t('settings.rescueHelp')}
              defaultChecked={found.rescue}
            />
          </Section>
          <Section title={t('settings.backups')}>
            <Tick
              name="auto_backup.enabled"
              label={t('settings.backup')}
              defaultChecked={found.auto_backup.enabled}
            />
            <Choice
              name="auto_backup.hour"
              label={t('settings.hour')}
              help={t('settings.hourHelp')}
              defaultValue={String(found.auto_backup.hour)}
              choices={Array.from({ length: 24 }, (_, hour) => ({
                value: String(hour),
                label: `${String(hour).padStart(2, '0')}:00`,
              }))}
            />
            <Choice
              name="auto_backup.keep"
              label={t('settings.keep')}
              defaultValue={String(found.auto_backup.keep)}
              choices={Array.from({ length: 7 }, (_, night) => ({
                value: String(night + 1),
                label: t('settings.nights', { count: night + 1 }),
              }))}
            />
          </Section>
          <Section title={t('settings.protection')}>
            <Tick
              name="protection.delete"
              label={t('settings.protectDelete')}
              defaultChecked={found.protection.delete}
            />
            <Tick
              name="protection.reinstall"
              label={t('settings.protectReinstall')}
              defaultChecked={found.protection.reinstall}
            />
          </Section>
        </>
      )}
    </Form>
  );
}
