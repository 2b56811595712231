import { runCommand, UsageError } from './commands/index.ts';
import { ConfigError, isThisHost, readConfig } from './config.ts';
import { type Demo, type DemoRack, openDemoRack } from './demo/index.ts';
import { openProgress } from './platform/host/terminal.ts';
import { baseUrlOf, type Product, startProduct } from './product.ts';
import { version } from './version.ts';

const oldestNode = 24;
const [nodeMajor = 0] = process.versions.node.split('.').map(Number);
if (nodeMajor < oldestNode) {
  console.error(
    `Innkeeper runs on Node ${oldestNode} or newer; this is ${process.version}. "npm ci && npm start" brings its own.`,
  );
  process.exit(1);
}

const progress = openProgress();
try {
  const command = process.argv.slice(2);
  if (command.length === 0) await main();
  else console.log(await runCommand(readConfig(process.env), command));
} catch (error) {
  progress.fail();
  console.error(inWords(error));
  const isTheirs = error instanceof ConfigError || error instanceof UsageError;
  if (!isTheirs && process.env.LOG_LEVEL === 'debug') console.error(error);
  process.exit(isTheirs ? 2 : 1);
}

/** What went wrong at the start, and what to do about it. */
function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : null;
  if (code === 'EADDRINUSE')
    return `${error.message}: another program listens there. Stop it, or set PORT (WORKER_PORT for a worker).`;
  if (code === 'EACCES' && 'syscall' in error) return `${error.message}: set PORT to one above 1023.`;
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return `${error.message}: the database cannot be reached. Check DATABASE_URL, and that it is running.`;
  }
  return error.message;
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  console.log(`Innkeeper ${version}`);
  const rack = await openDemoRack(config, progress.say);
  const product = await startProduct(rack?.config ?? config, progress, { drivers: rack?.drivers }).catch(
    async (error: unknown) => {
      await rack?.close(async () => undefined);
      throw error;
    },
  );
  if (rack !== null) sellRack(rack, product);
  stopOnSignals(product, rack);
  const baseUrl = baseUrlOf(config, product.port ?? config.port);
  progress.done(
    product.port === null
      ? `The worker is ready: http://${inUrl(config.workerHost)}:${product.probePort}/readyz says how it is.`
      : welcome(product, baseUrl, config.dataDir, config.mail === 'database'),
  );
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function sellRack(rack: DemoRack, { demo, port, ctx }: Product): void {
  if (demo === null || port === null) return;
  const url = `http://${inUrl(isThisHost(ctx.config.host) ? ctx.config.host : '127.0.0.1')}:${port}/api`;
  rack.sell({ url, apiKey: demo.staff.api_key, productId: demo.products.dedicated }, ctx.log);
}

/** One press of Ctrl-C arrives twice below npm, which hands on what the terminal has sent to all: within so long it is one. */
const samePressMs = 1_000;

function stopOnSignals(product: Product, rack: DemoRack | null): void {
  let stoppingSince: number | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (stoppingSince !== null) {
        if (now - stoppingSince > samePressMs) process.exit(1);
        return;
      }
      stoppingSince = now;
      const servers = rack === null ? '' : ', servers of the demonstration’s rack are switched off';
      console.log(`Stopping; machines keep running${servers}.`);
      (rack === null ? product.stop() : rack.close(product.stop)).then(
        () => product.ctx.log.flush(() => process.exit(0)),
        (error: Error) => {
          console.error(error.message);
          process.exit(1);
        },
      );
    });
  }
}

function welcome(product: Product, baseUrl: string, dataDir: string, mailsAreKept: boolean): string {
  const lines = ['', `Innkeeper is ready: ${baseUrl}/api (reference: ${baseUrl}/api/docs)`];
  if (product.ctx.config.dashboard) lines.push(`Dashboard: ${baseUrl}/`);
  if (product.demo !== null) lines.push(...tryThis(product.demo, product, baseUrl, dataDir, mailsAreKept));
  return lines.join('\n');
}

function tryThis(
  demo: Demo,
  product: Product,
  baseUrl: string,
  dataDir: string,
  mailsAreKept: boolean,
): string[] {
  const isReal = product.node?.hypervisor?.kind !== 'simulator';
  const lines = [
    '',
    `A demonstration company is open. Its keys and passwords are in ${dataDir}/demo.json. Try:`,
    '',
    ...(product.ctx.config.dashboard
      ? [`  ${baseUrl}/ in a browser, as ${demo.customer.email} with the password that stands there`]
      : []),
    `  KEY=${demo.customer.api_key} ORG=${demo.customer.organization_id}`,
    `  curl ${baseUrl}/api/products`,
    `  curl -H "token: $KEY" -H "x-organization-id: $ORG" ${baseUrl}/api/dashboard/services`,
    '',
    isReal
      ? "The README's quick start goes on from here to a machine you can log in to."
      : "The README's quick start goes on from here; machines are simulated, so there is nothing to log in to.",
  ];
  if (mailsAreKept) {
    lines.push(
      'No SMTP server is configured (SMTP_URL), so mails are kept. Read them:',
      `  curl -H "token: ${demo.staff.api_key}" ${baseUrl}/api/staff/mails`,
    );
  }
  return lines;
}
