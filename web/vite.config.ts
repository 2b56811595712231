import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
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
    reportCompressedSize: false,
  },
});
