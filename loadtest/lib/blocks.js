// Arithmetic on blocks, and the check that no two clients hold the same address. A block is represented by the string of its
// prefix's bits: one block lies inside another if its bits begin with the other's.

const octets = Array.from({ length: 256 }, (_, n) => n.toString(2).padStart(8, '0'));

function groups(text) {
  return text === '' ? [] : text.split(':').map((g) => parseInt(g, 16));
}

/** bits returns the prefix of a CIDR as a string of 0 and 1. */
export function bits(cidr) {
  const slash = cidr.indexOf('/');
  const address = cidr.slice(0, slash);
  const length = Number(cidr.slice(slash + 1));
  if (address.indexOf(':') < 0) {
    const [a, b, c, d] = address.split('.');
    return (octets[a] + octets[b] + octets[c] + octets[d]).slice(0, length);
  }
  const [head, tail] = address.split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...new Array(8 - before.length - after.length).fill(0), ...after];
  return all.map((g) => octets[g >> 8] + octets[g & 255]).join('').slice(0, length);
}

/** inside reports whether a block lies in another one, given as bits. */
export function inside(cidr, outerBits) {
  return bits(cidr).startsWith(outerBits);
}

/**
 * Holdings are the blocks in one pool that the clients of one JavaScript runtime hold. A client adds a block when it has the
 * response to its claim, and removes it before it sends the release: so two entries that overlap were held at the same time,
 * and no entry is missed. Exact for every mix of the lengths in its constructor.
 */
export class Holdings {
  constructor(pool, lengths) {
    this.pool = bits(pool);
    this.lengths = [...lengths].sort((a, b) => a - b);
    this.held = new Map(); // bits -> holder
    this.below = new Map(); // bits of a shorter length -> number of held blocks below
  }

  get size() {
    return this.held.size;
  }

  /** take records that a client holds a block. It returns '' or the fault. */
  take(cidr, who) {
    const key = bits(cidr);
    if (!key.startsWith(this.pool)) {
      return `${cidr} is outside its pool`;
    }
    if (!this.lengths.includes(key.length)) {
      return `${cidr} has a length that nobody asked for`;
    }
    if (this.held.has(key)) {
      return `${cidr} is held by ${this.held.get(key)} and was given to ${who}`;
    }
    if (this.below.get(key)) {
      return `${cidr} was given to ${who} although part of it is held`;
    }
    for (const length of this.lengths) {
      if (length >= key.length) {
        break;
      }
      const outer = key.slice(0, length);
      if (this.held.has(outer)) {
        return `${cidr} was given to ${who} out of a block that ${this.held.get(outer)} holds`;
      }
    }
    this.held.set(key, who);
    this.#count(key, 1);
    return '';
  }

  /** drop records that a client is about to release a block. */
  drop(cidr) {
    const key = bits(cidr);
    if (this.held.delete(key)) {
      this.#count(key, -1);
    }
  }

  #count(key, by) {
    for (const length of this.lengths) {
      if (length >= key.length) {
        return;
      }
      const outer = key.slice(0, length);
      this.below.set(outer, (this.below.get(outer) || 0) + by);
    }
  }
}
