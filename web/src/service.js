// The page without a network: keeps its files in the browser from the first visit on, all of one version. A newer version is
// fetched whole while the old one answers, and takes over when the page is opened again.
// web/build.mjs puts before it: VERSION, a checksum of all files; FILES, their names.

const CACHE = `archsim ${VERSION}`;
const AT_ONCE = 8; // files that are fetched side by side
const place = name => new URL(name, self.registration.scope).href;

async function keepAll() {
  const cache = await caches.open(CACHE);
  const rest = [...FILES];
  const fetchOne = async () => {
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      if (await cache.match(place(name))) continue;
      // Not what the browser has kept of another version.
      const response = await fetch(place(name), { cache: 'no-cache' });
      if (!response.ok) throw new Error(`${name} cannot be fetched (${response.status})`);
      await cache.put(place(name), response);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchOne));
}

async function forgetOthers() {
  for (const name of await caches.keys()) if (name.startsWith('archsim ') && name !== CACHE) await caches.delete(name);
}

async function answer(request) {
  const { origin, pathname } = new URL(request.url);
  const asked = `${origin}${pathname}`;
  const name = asked === self.registration.scope ? place('index.html') : asked;
  const cache = await caches.open(CACHE);
  return await cache.match(name) ?? fetch(request);
}

self.addEventListener('install', event => event.waitUntil(keepAll()));
self.addEventListener('activate', event => event.waitUntil(forgetOthers()));
self.addEventListener('fetch', event => {
  if (event.request.method === 'GET' && event.request.url.startsWith(self.registration.scope)) event.respondWith(answer(event.request));
});
