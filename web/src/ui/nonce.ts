/**
 * Styles that are made at run time carry what the server put into this answer's policy. Libraries that make them know
 * nothing of it, so each `<style>` gets it where it is made.
 */
export const nonce =
  typeof document === 'undefined'
    ? '{{nonce}}'
    : (document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '');

if (typeof document !== 'undefined') {
  const create = document.createElement.bind(document);
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    const made = create(name, options);
    if (name.toLowerCase() === 'style') made.setAttribute('nonce', nonce);
    return made;
  };
}
