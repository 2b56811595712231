import { useComputedColorScheme } from '@mantine/core';
import { useBrand } from '../data/brand.ts';

/** The provider's logo; their name where they have none. */
export function Logo() {
  const { name, logo_light, logo_dark } = useBrand();
  const picture = useComputedColorScheme('light') === 'dark' ? logo_dark : logo_light;
  return picture === null ? name : <img className="logo" src={picture} alt={name} />;
}
