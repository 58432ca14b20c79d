// Arithmetic of blocks: addresses are numbers of 32 or 128 bits.

export interface Block {
  family: 4 | 6;
  base: bigint;
  length: number;
}

export const bits = (family: 4 | 6) => (family === 4 ? 32 : 128);
export const sizeOf = (b: Block) => 1n << BigInt(bits(b.family) - b.length);

function parse4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((p) => !/^(0|[1-9]\d{0,2})$/.test(p) || Number(p) > 255)) return undefined;
  return parts.reduce((sum, p) => (sum << 8n) | BigInt(p), 0n);
}

function parse6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const groups = (half: string | undefined) => (half ? half.split(":") : []);
  const head = groups(halves[0]);
  const tail = groups(halves[1]);
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const all = [...head, ...Array<string>(missing).fill("0"), ...tail];
  if (all.some((g) => !/^[0-9a-f]{1,4}$/i.test(g))) return undefined;
  return all.reduce((sum, g) => (sum << 16n) | BigInt("0x" + g), 0n);
}

/** Reports whether a filter is the beginning of an address, which no search finds. */
export const isPartial = (text: string) => /^[\da-f.:/]*[.:][\da-f.:/]*$/i.test(text) && !parseBlock(text);

/** Parses an address or a CIDR; an address is a block of one. Clears the bits behind the prefix length. */
export function parseBlock(text: string): Block | undefined {
  const [address, suffix, more] = text.trim().split("/");
  if (!address || more !== undefined) return undefined;
  const family = address.includes(":") ? 6 : 4;
  const value = family === 6 ? parse6(address) : parse4(address);
  if (value === undefined || (suffix !== undefined && !/^\d{1,3}$/.test(suffix))) return undefined;
  const length = suffix === undefined ? bits(family) : Number(suffix);
  if (length > bits(family)) return undefined;
  const rest = BigInt(bits(family) - length);
  return { family, base: (value >> rest) << rest, length };
}

export function formatAddress(family: 4 | 6, value: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((s) => (value >> s) & 255n).join(".");
  const groups = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn));
  let best = { at: -1, count: 1 };
  for (let i = 0; i < 8; i++) {
    let count = 0;
    while (i + count < 8 && groups[i + count] === 0) count++;
    if (count > best.count) best = { at: i, count };
  }
  const hex = (part: number[]) => part.map((g) => g.toString(16)).join(":");
  if (best.at < 0) return hex(groups);
  return `${hex(groups.slice(0, best.at))}::${hex(groups.slice(best.at + best.count))}`;
}

export function formatBlock(b: Block): string {
  const address = formatAddress(b.family, b.base);
  return b.length === bits(b.family) ? address : `${address}/${b.length}`;
}

export const formatCIDR = (b: Block) => `${formatAddress(b.family, b.base)}/${b.length}`;
export const lastAddress = (b: Block) => formatAddress(b.family, b.base + sizeOf(b) - 1n);

export function contains(outer: Block, inner: Block): boolean {
  const rest = BigInt(bits(outer.family) - outer.length);
  return outer.family === inner.family && outer.length <= inner.length && outer.base >> rest === inner.base >> rest;
}

/** Returns the part with this index of a block that is cut into parts of this length. */
export function partOf(b: Block, length: number, index: number): Block {
  return { family: b.family, base: b.base + (BigInt(index) << BigInt(bits(b.family) - length)), length };
}

/** Formats a count as 4,294,967,296, and from 10¹² on as a power of two, 2ⁿ. */
export function formatCount(count: bigint | number | string): string {
  const value = BigInt(count);
  if (value < 10n ** 12n) return value.toLocaleString("en");
  const power = value.toString(2).length - 1;
  const raised = [...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
  return `${value === 1n << BigInt(power) ? "" : "≈ "}2${raised}`;
}

/** Orders blocks by address, IPv4 first. */
export function compareBlocks(a: Block | undefined, b: Block | undefined): number {
  if (!a || !b) return a ? -1 : b ? 1 : 0;
  if (a.family !== b.family) return a.family - b.family;
  if (a.base !== b.base) return a.base < b.base ? -1 : 1;
  return a.length - b.length;
}
