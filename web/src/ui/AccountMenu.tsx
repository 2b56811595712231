import { Menu, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useBrand } from '../data/brand.ts';
import { languages, useText } from '../text/index.ts';
import { type AccountButtonProps, Whose } from './AccountButton.tsx';

/** In which language, the other house, and out; open from the beginning, since somebody has pressed its button. */
export function AccountMenu({ user, elsewhere, onLanguage, onSignOut }: AccountButtonProps) {
  const { t, language } = useText();
  const { languages: offered } = useBrand();
  return (
    <Menu position="bottom-end" width={240} defaultOpened>
      <Menu.Target>
        <UnstyledButton p="xs" title={t('app.account')} autoFocus>
          <Whose user={user} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="who">
          {user.first_name} {user.last_name}
          <br />
          {user.email}
        </Menu.Label>
        {(offered.length > 1 ? offered : []).map((code) => (
          <Menu.Item key={code} lang={code} aria-current={code === language} onClick={() => onLanguage(code)}>
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
  );
}
