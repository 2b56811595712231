import { Anchor, AppShell, Burger, Group, Menu, NativeSelect, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Session } from '../data/queries/index.ts';
import { useIsLive } from '../data/stream.ts';
import { type Language, languages, useText } from '../text/index.ts';
import { productName } from './Page.tsx';

export interface Place {
  to: string;
  label: string;
}

interface ShellProps {
  session: Session;
  places: readonly Place[];
  onOrganization: (id: number) => void;
  onLanguage: (language: Language) => void;
  onSignOut: () => void;
  children: ReactNode;
}

/** What stands around every page of whoever is signed in. */
export function Shell({ session, places, onOrganization, onLanguage, onSignOut, children }: ShellProps) {
  const { t, language } = useText();
  const [isOpen, menu] = useDisclosure(false);
  const isLive = useIsLive();
  const where = useRouterState({ select: ({ location }) => location.pathname });
  const { user, organizations, organization } = session;
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
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('app.menu')}
            />
            <Anchor component={Link} to="/" underline="never" c="inherit" fw={700}>
              {productName}
            </Anchor>
          </Group>
          <Menu position="bottom-end" width={240}>
            <Menu.Target>
              <UnstyledButton p="xs" title={t('app.account')}>
                <Text size="sm" truncate maw={{ base: 150, sm: 320 }}>
                  {user.first_name} {user.last_name}
                </Text>
              </UnstyledButton>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Label>{user.email}</Menu.Label>
              {Object.entries(languages).map(([code, name]) => (
                <Menu.Item
                  key={code}
                  lang={code}
                  aria-current={code === language}
                  onClick={() => onLanguage(code as Language)}
                >
                  {name}
                </Menu.Item>
              ))}
              <Menu.Divider />
              <Menu.Item onClick={onSignOut}>{t('app.signOut')}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm">
        {organizations.length > 1 && (
          <NativeSelect
            mb="sm"
            label={t('app.organization')}
            value={String(organization?.id)}
            onChange={(event) => onOrganization(Number(event.currentTarget.value))}
            data={organizations.map(({ id, name }) => ({ value: String(id), label: name }))}
          />
        )}
        {places.map(({ to, label }) => {
          const isHere = to === '/' ? where === '/' : where === to || where.startsWith(`${to}/`);
          return (
            <Link
              key={to}
              to={to}
              className="nav-link"
              aria-current={isHere ? 'page' : undefined}
              onClick={menu.close}
            >
              {label}
            </Link>
          );
        })}
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        {!isLive && (
          <Text role="status" size="sm" mb="md" c="dimmed">
            {t('app.offline')}
          </Text>
        )}
        {children}
      </AppShell.Main>
    </AppShell>
  );
}
