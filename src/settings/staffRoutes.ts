import { Type } from 'typebox';
import { named, type RouteGroup, routes, Strict } from '../platform/http/index.ts';
import { changeSettings } from './change.ts';
import { lockSettings, readEverySection } from './read.ts';
import type { AnySection } from './section.ts';

export function settingsStaffRoutes(sections: readonly AnySection[]): RouteGroup {
  const group = {
    tag: 'Staff: settings',
    about: 'How the company runs: what you can change while it does.',
    examples: examplesOf(sections),
  };
  const data = named(
    'SettingsAnswer',
    Type.Object({ settings: named('Settings', Type.Object(eachSection(sections, shown))) }),
  );
  const staff = { auth: 'staff', area: 'billing', staffRoles: ['administrator', 'billing'] } as const;

  return routes('/staff/settings', group, (route) => {
    route.get(
      '',
      {
        ...staff,
        operation: 'getSettings',
        summary: 'Get settings',
        description: 'Everything that can be set, with the defaults of what nobody has set.',
        data,
        etag: true,
      },
      (ctx) => readEverySection(ctx, sections),
    );
    route.patch(
      '',
      {
        ...staff,
        staffRoles: ['administrator'],
        operation: 'updateSettings',
        summary: 'Change settings',
        description:
          'Sets the fields that the body names, from this moment on; what was invoiced before stays as it is. The ' +
          'journal keeps who changed what.',
        body: named('SettingsChange', Strict(eachSection(sections, changeable))),
        data,
        lock: lockSettings,
      },
      (ctx, req) => changeSettings(ctx, sections, req.body as Record<string, Record<string, unknown>>),
    );
  });
}

function eachSection<T>(sections: readonly AnySection[], what: (section: AnySection) => T) {
  return Object.fromEntries(sections.map((section) => [section.name, what(section)]));
}

function shown(section: AnySection) {
  return named(nameOf(section), Type.Object(section.shape.properties), section.about);
}

function changeable(section: AnySection) {
  const fields = Object.entries(section.shape.properties).map(([name, field]) => [
    name,
    Type.Optional(field),
  ]);
  return Type.Optional(named(`${nameOf(section)}Change`, Strict(Object.fromEntries(fields)), section.about));
}

function nameOf({ name }: AnySection): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Settings`;
}

function examplesOf(sections: readonly AnySection[]) {
  const settings = eachSection(sections, (section) => section.example);
  return {
    getSettings: { data: { settings } },
    updateSettings: { body: settings, data: { settings } },
  };
}
