import type { Recipe } from './recipe.ts';

export const debian12Recipe: Recipe = {
  hostPackages: ['mmdebstrap'],
  build: () => Promise.reject(new Error('not built yet')),
};
