// The library as the page sees it: promises of answers from its worker.

export class Engine {
  // `worker` runs src/worker.js; `files` are the packed files where the page has them in itself, else null.
  constructor(worker, files) {
    this.worker = worker;
    this.waiting = new Map();
    this.count = 0;
    worker.onmessage = ({ data }) => {
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.problem === undefined) resolve(data.value);
      else reject(new Error(data.problem));
    };
    worker.onerror = event => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message || 'the worker has stopped'));
      this.waiting.clear();
    };
    this.opened = this.send({ work: 'open', files });
  }

  send(message) {
    return new Promise((resolve, reject) => {
      const id = ++this.count;
      this.waiting.set(id, { resolve, reject });
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
