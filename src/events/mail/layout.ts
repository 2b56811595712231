import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../config.ts';
import { filesOf } from '../../platform/index.ts';

/** What a layout may have put in, and what it has to. */
const places = ['language', 'subject', 'company', 'logo', 'colour', 'font', 'radius', 'content', 'footer'];
const needed = ['content', 'footer'];

const own = `<!doctype html>
<html lang="{{language}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{{subject}}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #12171c !important; }
  .sheet { background: #1d242b !important; color: #e8edf1 !important; }
  .name { color: #e8edf1 !important; }
  .quiet { color: #a9b4be !important; }
  .box { background: #12171c !important; color: #e8edf1 !important; }
  .line { border-color: #38424c !important; }
  .button { border: 1px solid #a9b4be !important; }
}
@media (max-width: 480px) {
  .page { padding: 0 !important; }
  .sheet { padding: 20px 18px !important; border-radius: 0 !important; }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f1f4f6">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f1f4f6">
<tr><td class="page" align="center" style="padding:24px 12px;background:#f1f4f6">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:600px;text-align:left">
<tr><td class="sheet" style="padding:28px 32px;border-radius:{{radius}}px;border-top:4px solid {{colour}};background:#ffffff;color:#1c252c;overflow-wrap:anywhere;font:16px/1.55 {{font}}">
<p class="name" style="margin:0 0 20px;font-size:15px;font-weight:700;color:{{colour}}">{{logo}}</p>
<h1 style="margin:0 0 20px;font-size:21px;line-height:1.35;overflow-wrap:anywhere">{{subject}}</h1>
{{content}}
</td></tr>
<tr><td class="quiet" style="padding:16px 32px 24px;font:12px/1.6 {{font}};color:#5b6873">
{{footer}}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;

const opened = new Map<string, string>();

/** The layout of mails: `mail.html` of the provider's folder, or ours. Throws {@link ConfigError} when it cannot be used. */
export function openLayout(folder: string | null): string {
  if (folder === null || !filesOf(folder).includes('mail.html')) return own;
  const file = join(folder, 'mail.html');
  const known = opened.get(file);
  if (known !== undefined) return known;
  const layout = readFileSync(file, 'utf8');
  const used = [...layout.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name = '']) => name);
  const list = (names: string[]) => names.map((name) => `{{${name}}}`).join(', ');
  const strange = used.filter((name) => !places.includes(name));
  if (strange.length > 0)
    throw new ConfigError(`TEXTS_DIR: ${file} uses ${list(strange)}; it may use ${list(places)}`);
  const missing = needed.filter((name) => !used.includes(name));
  if (missing.length > 0) throw new ConfigError(`TEXTS_DIR: ${file} lacks ${list(missing)}`);
  opened.set(file, layout);
  return layout;
}
