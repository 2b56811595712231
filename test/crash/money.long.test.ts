import { afterAll } from 'vitest';
import { stripeEnv } from '../stripe/product.ts';
import { startStripe } from '../stripe/standIn.ts';
import { sweepEvery } from './everyScenario.ts';
import { moneyScenarios } from './moneyScenarios.ts';

const stripe = await startStripe();
afterAll(() => stripe.close());

for (const steps of ['once', 'twice'] as const) sweepEvery(moneyScenarios(stripe), steps, stripeEnv(stripe));
