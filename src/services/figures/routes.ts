import { routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { readFigures } from './figures.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: billing', about: 'Money that came in or goes back.', examples };

export const figuresRoutes = routes('/staff/figures', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      staffRoles: ['administrator', 'billing'],
      area: 'billing',
      operation: 'getFigures',
      summary: 'Get figures of the company',
      description:
        'By month (UTC) and currency: recurring revenue and how it moved, revenue that was earned, what is owed as service, ' +
        'and money that came and went; and how old is what is open now. What each word means is in docs/operations/figures.md.',
      query: S.FiguresQuery,
      data: S.Figures,
    },
    (ctx, req) => readFigures(ctx, req.query),
  );
});
