/*
 * Runs in a page: what of its text nobody can read, since it is cut off or lies beyond the edge, and by how much the page
 * would have to be moved sideways.
 */
(() => {
  const { clientWidth, scrollWidth } = document.documentElement;
  const found = new Set();
  const styles = new Map();
  const styleOf = (element) => {
    let style = styles.get(element);
    if (style === undefined) {
      const { overflowX, overflowY, position, clipPath, textOverflow } = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      style = { overflowX, overflowY, position, clipPath, textOverflow, box };
      styles.set(element, style);
    }
    return style;
  };
  const clips = (overflow) => overflow === 'hidden' || overflow === 'clip';
  const scrolls = (overflow) => overflow === 'auto' || overflow === 'scroll';
  /** For readers of screens alone, or closed. */
  const isAside = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const { clipPath, box } = styleOf(each);
      if (clipPath.startsWith('inset') || (box.width <= 1 && clips(styleOf(each).overflowX))) return true;
    }
    return false;
  };
  const cutBy = (element, { left, right, top, bottom }) => {
    let [across, down] = [true, true];
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      const { overflowX, overflowY, position, box } = styleOf(each);
      if (across && clips(overflowX) && (right > box.right + 1.5 || left < box.left - 1.5))
        return 'is cut off';
      if (down && clips(overflowY) && (bottom > box.bottom + 3 || top < box.top - 3))
        return 'is cut off below';
      if (scrolls(overflowX)) across = false;
      if (scrolls(overflowY)) down = false;
      if (position === 'fixed') break;
    }
    return across && (right > clientWidth + 1 || left < -1) ? 'is beyond the edge' : null;
  };
  if (scrollWidth > clientWidth) found.add(`${scrollWidth - clientWidth} pixels too wide`);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    const element = node.parentElement;
    if (text === '' || element.closest('script, style, noscript, select, textarea, [aria-hidden=true]'))
      continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || isAside(element))
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const isShortened =
      styleOf(element).textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth + 1;
    const how = isShortened
      ? 'is shortened'
      : [...range.getClientRects()]
          .filter(({ width, height }) => width > 0 && height > 0)
          .map((place) => cutBy(element, place))
          .find((each) => each !== null);
    if (how)
      found.add(`“${text.slice(0, 40)}” ${how} (${element.tagName.toLowerCase()}.${element.className})`);
  }
  return [...found];
})();
