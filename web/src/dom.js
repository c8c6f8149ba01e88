// Small helpers for elements.

export const $ = selector => document.querySelector(selector);

// An element with attributes (properties where the name begins with a dot) and children; text stays text.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith('.')) element[name.slice(1)] = value;
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// HTML that the library's renderer made: its text is escaped there, and the page's policy runs no script in it.
export function show(element, html) {
  element.innerHTML = html;
  globalThis.adoptReport(element); // charts; src/report/assets/report.js
}

// Gives the reader a file.
export function save(text, type, name) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
