/** Marks an element whose style is in the sheet. */
const mark = 'data-drawn';
/** What could end a rule, or begin another thing than a style. */
const odd = /[{}<>@\\]|\/\*/;
const signs: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#x27;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
};

/**
 * Takes the styles that React has written at elements into a sheet: the page's policy allows none at elements, and one sheet
 * by its nonce. They outweigh classes there as they do at elements.
 */
export function sheetOf(drawn: string): { html: string; styles: string } {
  const names = new Map<string, string>();
  // React writes `"` as a sign of its own wherever it is not its own: nothing that people wrote looks like an attribute.
  const html = drawn.replace(/ style="([^"]*)"/g, (_, written: string) => {
    const style = written.replace(/&(?:quot|#x27|lt|gt|amp);/g, (sign) => signs[sign] ?? sign);
    if (odd.test(style)) return '';
    const name = names.get(style) ?? String(names.size);
    names.set(style, name);
    return ` ${mark}="${name}"`;
  });
  const rules = [...names].map(([style, name]) => `#root [${mark}="${name}"]{${style}}`);
  return { html, styles: rules.join('\n') };
}
