export class RingBuffer {
  constructor(capacity) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new RangeError(`capacity must be a positive integer, got ${capacity}`);
    }
    this.slots = new Array(capacity);
    this.start = 0;
    this.length = 0;
  }

  push(value) {
    const index = (this.start + this.length) % this.slots.length;
    this.slots[index] = value;
    if (this.length < this.slots.length) {
      this.length += 1;
    } else {
      this.start = (this.start + 1) % this.slots.length;
    }
    return this.length;
  }

  *[Symbol.iterator]() {
    for (let offset = 0; offset < this.length; offset++) {
      yield this.slots[(this.start + offset) % this.slots.length];
    }
  }

  static from(items, capacity = items.length) {
    const buffer = new RingBuffer(Math.max(1, capacity));
    items.forEach((item) => buffer.push(item));
    return buffer;
  }
}

async function fetchPages(client, { limit = 50, signal } = {}) {
  const results = [];
  let cursor = null;
  do {
    const response = await client.get("/v1/items", { params: { cursor, limit }, signal });
    results.push(...response.data.items);
    cursor = response.data.nextCursor ?? null;
  } while (cursor !== null);
  return results;
}
