// What axe-core finds that a reader would stumble over, looked at once where it can be seen once: texts of one colour and
// font before the same backgrounds have the same contrast, another colour scheme leaves the structure as it was, and another
// width leaves the colours.

import assert from 'node:assert/strict';

/** Fails for serious violations. part: 'all', or 'colours' and 'layout' of a page that was seen in another scheme or width. */
export async function checkAccess(page, axe, what, part = 'all') {
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(axe);
  const violations = await page.evaluate(async wanted => {
    const grounds = new Map();
    const groundOf = node => { // what is painted behind it, up to the page
      if (!node) return '';
      if (!grounds.has(node)) {
        const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(node);
        const own = backgroundColor === 'rgba(0, 0, 0, 0)' ? '' : backgroundColor;
        grounds.set(node, [own, backgroundImage, opacity, filter].join() + '/' + groundOf(node.parentElement));
      }
      return grounds.get(node);
    };
    const kinds = new Map();
    for (const node of document.body.querySelectorAll('*')) {
      if (!node.getClientRects().length || ![...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim())) continue;
      const { color, fontSize, fontWeight, textShadow } = getComputedStyle(node);
      const kind = [node.localName, color, fontSize, fontWeight, textShadow, groundOf(node)].join();
      if (!kinds.has(kind)) kinds.set(kind, node);
    }
    const colours = { resultTypes: ['violations'], runOnly: { type: 'rule', values: ['color-contrast'] } };
    const layout = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } };
    return [
      ...wanted === 'layout' ? [] : (await globalThis.axe.run({ include: [...kinds.values()] }, colours)).violations,
      ...wanted === 'colours' ? [] : (await globalThis.axe.run(document, layout)).violations,
    ].map(({ id, impact, nodes }) => ({ id, impact, places: nodes.map(node => node.html.slice(0, 120)) }));
  }, part);
  const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  assert.deepEqual(serious.map(({ id, places }) => `${id}: ${places.length} x ${places.slice(0, 3).join(' ')}`), [], `${what}: accessibility`);
}
