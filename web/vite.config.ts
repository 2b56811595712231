import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

/** Asks for what the first page will ask for, before anything else is loaded; see there. */
const startedBy = 'src/start.ts';

/** What the first script is made of. */
const isOfStart = (id: string) =>
  /\/web\/src\/(start|data\/(begun|hands|impersonation|organization|seen|signedIn)|text\/(formats|words))\.ts$|vite\/preload-helper/.test(
    id,
  );

/** What has not to wait for the rest of what is loaded first: half of it. */
const isOfBase = /node_modules\/(react|react-dom|scheduler|@tanstack\/(?!query|react-query)[\w-]+)\//;

/** What finds a place beside a button. */
const beside = /@floating-ui|components\/(Menu|Popover|Tooltip|Floating)\//;

/**
 * Most of what is loaded first is called before the first page is there. This comment, read by Chromium in the first line alone,
 * has all of it compiled beside the page's own thread; function by function, as they are called, that is a fifth of the time.
 */
function compileFirst(): Plugin {
  return {
    name: 'compile-first',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const each of Object.values(bundle))
          if (each.type === 'chunk' && ['base', 'first'].includes(each.name))
            each.code = `//# allFunctionsCalledOnLoad\n${each.code}`;
      },
    },
  };
}

/** Names the first script before all others. It waits for none of them, nor for styles. */
function startFirst(): Plugin {
  return {
    name: 'start-first',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const start = Object.values(bundle ?? {}).find(
          (each) => each.type === 'chunk' && each.moduleIds.some((id) => id.endsWith(startedBy)),
        );
        const src = start === undefined ? `/${startedBy}` : `/${start.fileName}`;
        return [
          {
            tag: 'script',
            attrs: { type: 'module', async: true, src },
            injectTo: 'head-prepend',
          },
        ];
      },
    },
  };
}

/** What paints pages in the server, with all that it stands on: a package brings no libraries for it. */
const painter: UserConfig = {
  root: import.meta.dirname,
  plugins: [react()],
  define: { 'process.env.NODE_ENV': '"production"' },
  ssr: { noExternal: true },
  build: {
    ssr: true,
    copyPublicDir: false,
    target: 'node24',
    rolldownOptions: { output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' } },
  },
};

const site: UserConfig = {
  root: import.meta.dirname,
  plugins: [react(), startFirst(), compileFirst()],
  cacheDir: path.join(import.meta.dirname, '../node_modules/.cache/vite'),
  // `npm exec vite web` while somebody works on pages: the API is the one of a product that runs.
  server: { proxy: { '/api': { target: 'http://localhost:3000', ws: true } } },
  build: {
    outDir: path.join(import.meta.dirname, '../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    // The policy allows no inline script and no data: for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: [path.join(import.meta.dirname, 'index.html'), path.join(import.meta.dirname, startedBy)],
      treeshake: {
        // Nothing happens when a file of these is loaded: of the lists that pages take parts from, each chunk has the parts
        // that it draws with, and the first page has no others.
        moduleSideEffects: [{ test: /\/web\/src\/(?!ui\/nonce|main|start)[^?]*\.tsx?$/, sideEffects: false }],
      },
      output: {
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], test: isOfStart, priority: 2 },
            // All that is loaded at first is two files: a browser has six connections, and compiles each beside the other.
            { name: 'base', tags: ['$initial'], test: isOfBase, priority: 1.5 },
            { name: 'first', tags: ['$initial'], priority: 1 },
            // What many pages are drawn with besides, or each of them would ask for twenty little files.
            { name: 'beside', minShareCount: 3, test: beside },
            // Some few pages draw charts; many more have parts.
            { name: 'charts', minShareCount: 2, test: /node_modules\/uplot\/|vps\/Plot/ },
            { name: 'parts', minShareCount: 3, test: /node_modules|\/web\/src\/ui\// },
          ],
        },
      },
    },
    reportCompressedSize: false,
  },
};

export default defineConfig(({ isSsrBuild }) => (isSsrBuild ? painter : site));
