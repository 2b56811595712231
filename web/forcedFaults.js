/*
 * Runs in a page whose reader has colours of their own, where nothing has a background or a shadow: what is marked only by
 * these, and what lies over so much of a small page that little is left of it.
 */
(() => {
  const found = new Set();
  const lookOf = (element) => {
    const style = getComputedStyle(element);
    const sides = ['Top', 'Right', 'Bottom', 'Left'].map((side) => {
      const isDrawn = parseFloat(style[`border${side}Width`]) > 0 && style[`border${side}Style`] !== 'none';
      return isDrawn ? style[`border${side}Color`] : null;
    });
    const outline = style.outlineStyle === 'none' ? null : style.outlineColor;
    return JSON.stringify([sides, outline, style.backgroundColor, style.textDecorationLine]);
  };
  const said = (element) => element.textContent.trim().slice(0, 40);
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const marked = [...document.querySelectorAll('[aria-current=page], .tiles label:has(:checked)')];
  for (const one of marked.filter(isShown)) {
    const others = [...one.parentElement.children].filter(
      (each) => each !== one && each.tagName === one.tagName && !marked.includes(each) && isShown(each),
    );
    if (others.some((each) => lookOf(each) === lookOf(one))) found.add(`“${said(one)}” is not marked`);
  }
  for (const bar of document.querySelectorAll('[role=progressbar]'))
    if (
      isShown(bar) &&
      getComputedStyle(bar).backgroundColor === getComputedStyle(bar.parentElement).backgroundColor
    )
      found.add(`a bar of ${bar.getAttribute('aria-valuenow')} cannot be seen`);
  for (const each of document.querySelectorAll(
    'button, input:not([type=hidden], [type=radio], [type=file]), select, textarea',
  )) {
    const { width, height } = each.getBoundingClientRect();
    if (!isShown(each) || width < 2 || height < 2 || getComputedStyle(each).appearance !== 'none') continue;
    const [sides, outline] = JSON.parse(lookOf(each));
    if (each.tagName !== 'BUTTON' && sides.every((side) => side === null) && outline === null)
      found.add(`the field ${each.name || each.id} has no edge`);
  }
  const over = [...document.querySelectorAll('#content *, .shell-head')].filter((each) => {
    const { position } = getComputedStyle(each);
    return (position === 'sticky' || position === 'fixed') && isShown(each);
  });
  const covered = over
    .map((each) => each.getBoundingClientRect())
    .filter(({ width, top, bottom }) => width > innerWidth / 2 && bottom > 0 && top < innerHeight)
    .reduce((sum, { height }) => sum + height, 0);
  if (covered > innerHeight * 0.4) found.add(`${Math.round(covered)} of ${innerHeight} pixels are covered`);
  return [...found];
})();
