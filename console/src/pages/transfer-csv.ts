// CSV as spreadsheets write and read it (RFC 4180), with cells that no spreadsheet takes for a formula. A file is read completely or refused.
import { Unfit } from "../api";

const risky = /^'*[=+\-@\t\r]/;

/** Formats a cell. An apostrophe marks a text that a spreadsheet would compute. */
export function cell(text: string): string {
  const guarded = risky.test(text) ? `'${text}` : text;
  return /[",;\r\n\t]|^\s|\s$|^'/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** Returns the meaning of a cell: it removes the apostrophe of `cell` and no other. */
export const meant = (text: string) => (text.startsWith("'") && risky.test(text.slice(1)) ? text.slice(1) : text);

export const line = (cells: string[]) => cells.map(cell).join(",") + "\r\n";

/** Lets the page draw and handle input. */
export const breathe = () => new Promise<void>((done) => { setTimeout(done); });

/** Returns the error for a file that was not read. */
export const unreadable = (detail: string) => new Unfit("The file was not read", detail);

/** Decodes a file: UTF-8, or UTF-16 with a byte order mark. It refuses another encoding, because it would read letters wrongly. */
export function decode(bytes: Uint8Array): string {
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  let text: string;
  try {
    text = new TextDecoder(mark, { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(`It is not ${mark.toUpperCase()} text (line ${lineOfFault(bytes, mark)}). Save it as “CSV UTF-8” and choose it again.`);
  }
  if (text.includes("\0")) throw unreadable("It is not a text file, or it is UTF-16 without a byte order mark. Save it as “CSV UTF-8” and choose it again.");
  return text;
}

/** Returns the line of the first byte that the encoding does not allow. */
function lineOfFault(bytes: Uint8Array, encoding: string): number {
  const shown = new TextDecoder(encoding).decode(bytes);
  const at = shown.indexOf("\ufffd");
  return (at < 0 ? shown : shown.slice(0, at)).split(/\r\n|\r|\n/).length;
}

export interface Record { line: number; cells: string[] }

const atOnce = 1000; // records between two calls of breathe

/** Parses records, separated by commas, or by semicolons if the first line has only those. It skips empty records. */
export async function parse(text: string): Promise<Record[]> {
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  const head = source.slice(0, source.search(/[\r\n]|$/));
  const separator = head.includes(";") && !head.includes(",") ? ";" : ",";
  const records: Record[] = [];
  let at = 0;
  let count = 1;
  while (at < source.length) {
    const began = count;
    const cells: string[] = [];
    for (;;) {
      const [value, next, lines] = field(source, at, separator, began);
      cells.push(value);
      count += lines;
      at = next;
      if (source[at] !== separator) break;
      at++;
    }
    if (source[at] === "\r") at++;
    if (source[at] === "\n") at++;
    count++;
    if (cells.some((c) => c.trim() !== "")) records.push({ line: began, cells });
    if (records.length % atOnce === 0) await breathe();
  }
  return records;
}

/** Parses one field: returns its text, its end, and the number of line ends in it. */
function field(source: string, from: number, separator: string, began: number): [string, number, number] {
  const where = (at: number) => `Line ${began}, column ${at - Math.max(source.lastIndexOf("\n", from - 1), source.lastIndexOf("\r", from - 1))}`;
  if (source[from] !== '"') {
    let end = from;
    while (end < source.length && source[end] !== separator && source[end] !== "\r" && source[end] !== "\n") {
      if (source[end] === '"') throw unreadable(`${where(end)}: a quotation mark inside a field that does not begin with one. Enclose the field in quotation marks, and double the mark inside it.`);
      end++;
    }
    return [source.slice(from, end), end, 0];
  }
  let text = "";
  let at = from + 1;
  for (;;) {
    const quote = source.indexOf('"', at);
    if (quote < 0) throw unreadable(`${where(from)}: a quotation mark is not closed.`);
    text += source.slice(at, quote);
    at = quote + 1;
    if (source[at] !== '"') break;
    text += '"';
    at++;
  }
  const after = source[at];
  if (after !== undefined && after !== separator && after !== "\r" && after !== "\n") throw unreadable(`${where(from)}: text follows the closing quotation mark of this field.`);
  return [text, at, text.split(/\r\n|\r|\n/).length - 1];
}

/** Downloads a file. */
export function save(name: string, parts: string[]) {
  const address = URL.createObjectURL(new Blob(parts, { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
