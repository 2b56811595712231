import { routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { prefix } from './routes/access.ts';
import { addressRoutes } from './routes/addresses.ts';
import { applyRoutes } from './routes/apply.ts';
import { attackRoutes } from './routes/attacks.ts';
import { groupRoutes } from './routes/groups.ts';
import { judgeRoutes } from './routes/judge.ts';
import { limiterRoutes } from './routes/limiters.ts';
import { ruleRoutes } from './routes/rules.ts';
import { sensitivityRoutes } from './routes/sensitivity.ts';
import { tokenRoutes } from './routes/token.ts';
import { trafficRoutes } from './routes/traffic.ts';

const group = {
  tag: 'Shield',
  about:
    'What becomes of packets to your addresses before they reach your machines: rules, which are stateless, and what they count.',
  examples,
};

export const shieldRoutes = routes(prefix, group, (route) => {
  tokenRoutes(route);
  addressRoutes(route);
  ruleRoutes(route);
  groupRoutes(route);
  applyRoutes(route);
  judgeRoutes(route);
  limiterRoutes(route);
  sensitivityRoutes(route);
  attackRoutes(route);
  trafficRoutes(route);
});
