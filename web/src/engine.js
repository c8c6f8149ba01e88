// The library as the page sees it: promises of answers from its worker.

const SLOW = 1000; // milliseconds after which a reader may stop what is worked out

export class Engine {
  // `start` makes a worker that runs src/worker.js; `files` are the packed files where the page has them in itself, else null;
  // `slow` is told when an answer takes long, and when nothing is waited for any more.
  constructor(start, files, slow) {
    Object.assign(this, { start, files, slow, waiting: new Map(), count: 0, mounted: [] });
    this.begin();
  }

  begin() {
    const worker = this.worker = this.start();
    worker.onmessage = ({ data }) => {
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      this.watch();
      if (data.problem === undefined) resolve(data.value);
      else reject(new Error(data.problem));
    };
    worker.onerror = event => this.fail(event.message || 'the worker has stopped');
    this.opened = this.send({ work: 'open', files: this.files })
      .then(() => Promise.all(this.mounted.map(files => this.send({ work: 'mount', files })))); // in their order: the same paths
  }

  fail(sentence) {
    for (const { reject } of this.waiting.values()) reject(new Error(sentence));
    this.waiting.clear();
    this.watch();
  }

  // Ends what is worked out. A worker that computes hears nothing: another one takes its place.
  stop() {
    this.worker.terminate();
    this.fail('Stopped.');
    this.begin();
  }

  watch() {
    if (this.waiting.size > 0) {
      this.timer ??= setTimeout(() => this.slow(true), SLOW);
      return;
    }
    clearTimeout(this.timer);
    this.timer = undefined;
    this.slow(false);
  }

  send(message) {
    return new Promise((resolve, reject) => {
      const id = ++this.count;
      this.waiting.set(id, { resolve, reject });
      this.watch();
      this.worker.postMessage({ id, ...message });
    });
  }

  // The answer as an object. Throws an Error with the library's own sentence.
  async ask(question) {
    await this.opened;
    const answer = JSON.parse(await this.send({ work: 'ask', question }));
    if (answer.error) throw new Error(answer.error.message);
    return answer;
  }

  // The path by which questions name a dropped model.
  async mount(files, name) {
    await this.opened;
    this.mounted.push(files);
    return `${await this.send({ work: 'mount', files })}/${name}`;
  }
}

// Asks one question at a time and, of those that come meanwhile, only the latest: for sliders.
export class Latest {
  constructor(ask) {
    this.ask = ask;
    this.busy = false;
    this.next = null;
  }

  async put(question) {
    this.next = { question };
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.next) {
        const { question: asked } = this.next;
        this.next = null;
        await this.ask(asked);
      }
    } finally {
      this.busy = false;
    }
  }
}
