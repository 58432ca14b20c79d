// CSV as spreadsheets write and read it (RFC 4180), with cells that none of them takes for a formula.

const risky = /^'*[=+\-@\t\r]/;

/** A cell: what a spreadsheet would compute is marked as text by an apostrophe. */
export function cell(text: string): string {
  const guarded = risky.test(text) ? `'${text}` : text;
  return /[",;\r\n\t]|^\s|\s$|^'/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** What was meant by a cell: the apostrophe of `cell` goes, and no other. */
export const meant = (text: string) => (text.startsWith("'") && risky.test(text.slice(1)) ? text.slice(1) : text);

export const line = (cells: string[]) => cells.map(cell).join(",") + "\r\n";

/** Lets the page draw and answer. */
export const breathe = () => new Promise<void>((done) => { setTimeout(done); });

export interface Record { line: number; cells: string[] }

const atOnce = 1000; // records between two breaths

/** Reads records: separated by commas, or by semicolons if the first line has those alone. Records without content are left out. */
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

/** One field from here: its text, where it ends, and how many line ends are in it. */
function field(source: string, from: number, separator: string, began: number): [string, number, number] {
  if (source[from] !== '"') {
    let end = from;
    while (end < source.length && source[end] !== separator && source[end] !== "\r" && source[end] !== "\n") end++;
    return [source.slice(from, end), end, 0];
  }
  let text = "";
  let at = from + 1;
  for (;;) {
    const quote = source.indexOf('"', at);
    if (quote < 0) throw new Error(`Line ${began}: a quotation mark is opened and never closed.`);
    text += source.slice(at, quote);
    at = quote + 1;
    if (source[at] !== '"') break;
    text += '"';
    at++;
  }
  const after = source[at];
  if (after !== undefined && after !== separator && after !== "\r" && after !== "\n") throw new Error(`Line ${began}: something follows a closing quotation mark.`);
  return [text, at, text.split("\n").length - 1];
}

/** Gives somebody a file. */
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
