// The fields of forms: their rules in words, and the server's errors at the fields that they concern.
import { Refused, type Problem } from "./api";

const nameForm = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns why a text cannot be a name; undefined for a valid name and for an empty field. */
export function nameError(name: string): string | undefined {
  if (name === "" || nameForm.test(name)) return undefined;
  if (/[A-Z]/.test(name)) return "Use lower-case letters.";
  if (name.length > 63) return "Use at most 63 characters.";
  if (/[^a-z0-9-]/.test(name)) return "Use only lower-case letters, digits and hyphens.";
  return "Begin and end with a letter or a digit.";
}

export interface Labels { labels: Record<string, string>; error?: string }

/** Parses labels such as env=prod, separated by spaces or commas. */
export function labelsOf(text: string): Labels {
  const labels: Record<string, string> = {};
  for (const part of text.split(/[\s,]+/).filter((each) => each !== "")) {
    const at = part.indexOf("=");
    if (at < 1) return { labels, error: `“${part}” is not a label. Write name=value, such as env=prod.` };
    const name = part.slice(0, at);
    if (name in labels) return { labels, error: `The label ${name} is listed twice.` };
    labels[name] = part.slice(at + 1);
  }
  return { labels };
}

/** Removes the slash and the spaces around a prefix length. */
export const lengthText = (text: string) => text.replace(/^\s*\//, "").trim();

export function lengthError(text: string, most = 128): string | undefined {
  if (text === "") return undefined;
  return /^\d{1,3}$/.test(text) && Number(text) <= most ? undefined : `Enter the prefix length as a number from 0 to ${most}.`;
}

/** The names of fields on the screen, by their JSON pointer in a request. */
const names: [RegExp, string][] = [
  [/^\/metadata\/(name|generateName)/, "Name"],
  [/^\/metadata\/labels/, "Labels"],
  [/^\/metadata\/annotations/, "Annotations"],
  [/^\/spec\/prefixLength/, "Size"],
  [/^\/spec\/(cidr|address)/, "Block"],
  [/^\/spec\/poolRef/, "Pool"],
  [/^\/spec\/parentRef/, "Parent pool"],
  [/^\/spec\/spaceRef/, "Space"],
  [/^\/spec\/class(Name|Ref)/, "Class"],
  [/^\/spec\/scope\/poolRef/, "Pool"],
  [/^\/spec\/scope\/classRef/, "Class"],
  [/^\/spec\/limits\/addresses/, "Addresses"],
  [/^\/spec\/limits\/claims/, "Claims"],
  [/^\/spec\/limits\/pools/, "Pools"],
  [/^\/spec\/limits/, "Limits"],
  [/^\/spec\/percent/, "Percent"],
  [/^\/spec\/runway/, "Time"],
  [/^\/spec\/labelSelector/, "Labels"],
  [/^\/spec\/resourceName/, "Name of the pool or quota"],
  [/^\/spec\/(displayName|description)/, "Description"],
  [/^query:/, "Filter"],
  [/^path:/, "Name in the address"],
];

export const fieldName = (pointer: string) => names.find(([form]) => form.test(pointer))?.[1] ?? pointer;

/** Replaces the pointers in a sentence of the server by the names of fields on the screen. */
export const inWords = (sentence: string) => sentence.replace(/(?<![\w/])(\/(?:metadata|spec)(?:\/[\w~-]+)*|(?:query|path):\w+)/g, (pointer) => fieldName(pointer));

/** Returns the server's errors about the field with this name on the screen. */
export function errorAt(error: unknown, field: string): string | undefined {
  if (!(error instanceof Refused)) return undefined;
  return error.problem.errors?.filter((each) => fieldName(each.pointer) === field).map((each) => inWords(each.detail)).join(" ") || undefined;
}

/** Returns the errors of a problem that the form does not show at its fields. */
export const elsewhere = (problem: Problem, fields: string[]): Problem["errors"] =>
  problem.errors?.filter((each) => !fields.includes(fieldName(each.pointer)));
