import { Anchor, AppShell, Burger, Group, Menu, NativeSelect, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { useBrand } from '../data/brand.ts';
import type { Session } from '../data/queries/index.ts';
import { useIsLive } from '../data/stream.ts';
import { type Language, languages, useText } from '../text/index.ts';
import { ShowsCode } from './AsCode.tsx';
import { BrandLinks } from './BrandLinks.tsx';
import { Logo } from './Logo.tsx';

export interface Place {
  to: string;
  label: string;
  /** Begins a group of places under this heading. */
  group?: string | undefined;
}

interface ShellProps {
  session: Session;
  places: readonly Place[];
  /** At the top, beside whose pages these are. */
  search: ReactNode;
  /** The other house that this person may go to. */
  elsewhere?: Place | undefined;
  onOrganization: (id: number) => void;
  onLanguage: (language: Language) => void;
  onSignOut: () => void;
  children: ReactNode;
}

/** What stands around every page of whoever is signed in. */
export function Shell({
  session,
  places,
  elsewhere,
  search,
  onOrganization,
  onLanguage,
  onSignOut,
  children,
}: ShellProps) {
  const { t, language } = useText();
  const { languages: offered } = useBrand();
  const [isOpen, menu] = useDisclosure(false);
  const isLive = useIsLive();
  const { user, organizations, organization } = session;
  const names = [user.first_name, user.last_name];
  const name = names.join(' ');
  // On a phone there is room for no more.
  const initials = names.map((each) => [...each][0]?.toUpperCase()).join('');
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip" href="#content">
        {t('app.skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={isOpen}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('app.menu')}
            />
            <Anchor component={Link} to={places[0]?.to ?? '/'} underline="never" c="inherit" fw={700}>
              <Logo />
            </Anchor>
          </Group>
          <Group gap="xs" wrap="nowrap">
            {search}
            <Menu position="bottom-end" width={240}>
              <Menu.Target>
                <UnstyledButton p="xs" title={t('app.account')}>
                  <Text size="sm" className="who caller">
                    {name}
                  </Text>
                  <Text size="sm" fw={600} hiddenFrom="sm" aria-hidden>
                    {initials}
                  </Text>
                </UnstyledButton>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Label className="who">
                  {name}
                  <br />
                  {user.email}
                </Menu.Label>
                {(offered.length > 1 ? offered : []).map((code) => (
                  <Menu.Item
                    key={code}
                    lang={code}
                    aria-current={code === language}
                    onClick={() => onLanguage(code)}
                  >
                    {languages[code]}
                  </Menu.Item>
                ))}
                <Menu.Divider />
                {elsewhere !== undefined && (
                  <Menu.Item component={Link} to={elsewhere.to}>
                    {elsewhere.label}
                  </Menu.Item>
                )}
                <Menu.Item onClick={onSignOut}>{t('app.signOut')}</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" style={{ overflowY: 'auto' }}>
        {organizations.length > 1 && (
          <NativeSelect
            mb="sm"
            label={t('app.organization')}
            value={String(organization?.id)}
            onChange={(event) => onOrganization(Number(event.currentTarget.value))}
            data={organizations.map(({ id, name }) => ({ value: String(id), label: name }))}
          />
        )}
        {places.map(({ to, label, group }) => {
          const exact = to === '/' || to === '/staff';
          return (
            <Fragment key={to}>
              {group !== undefined && <div className="nav-group">{group}</div>}
              <Link
                to={to}
                className="nav-link"
                activeOptions={{ exact, includeSearch: false }}
                onClick={menu.close}
              >
                {label}
              </Link>
            </Fragment>
          );
        })}
        <BrandLinks />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        {!isLive && (
          <Text role="status" size="sm" mb="md" c="dimmed">
            {t('app.offline')}
          </Text>
        )}
        <ShowsCode value>{children}</ShowsCode>
      </AppShell.Main>
    </AppShell>
  );
}
