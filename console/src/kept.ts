// Values that this tab keeps: the contents of forms and the state of lists. They survive a reload, Back and the end of a session, until the user signs out.
import { useState } from "preact/hooks";
import { unique } from "./api";
import { path, query } from "./router";
import { whoami } from "./session";

const prefix = "carve.kept:";

/** A place in the storage of the tab, for one user and one page. Another user of this tab does not see it. */
const placeOf = (name: string, parameters = true) => `${prefix}${whoami.value?.subject ?? ""}:${path.value}?${parameters ? query.value : ""}#${name}`;

export function readKept<T>(place: string): T | undefined {
  const text = sessionStorage.getItem(place);
  try {
    return text === null ? undefined : JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

function writeKept(place: string, value: unknown) {
  try {
    sessionStorage.setItem(place, JSON.stringify(value));
  } catch { /* The storage is full or forbidden: the page works without it. */ }
}

/** Drops everything, when the user signs out. */
export function forgetKept() {
  for (const place of Object.keys(sessionStorage)) if (place.startsWith(prefix)) sessionStorage.removeItem(place);
}

export interface Kept<T> {
  value: T;
  set: (value: T) => void;
  /** Drops the value here and in the storage. */
  clear: () => void;
  /** The value is from an earlier visit to this page. */
  restored: boolean;
}

/** A state that the tab keeps for this page under this name; without `parameters` for the page whatever its filters are. */
export function useKept<T>(name: string, first: () => T, parameters = true): Kept<T> {
  const [place] = useState(() => placeOf(name, parameters)); // of the page as it was opened: a page may change its own address
  const [{ value, restored }, setState] = useState(() => {
    const before = readKept<T>(place);
    return { value: before ?? first(), restored: before !== undefined };
  });
  return {
    value, restored,
    set: (next) => { writeKept(place, next); setState((was) => ({ ...was, value: next })); },
    clear: () => { sessionStorage.removeItem(place); setState({ value: first(), restored: false }); },
  };
}

const most = 100; // contents of one form whose keys are kept

export interface Intents {
  /** The key for a request with these contents: the same for the same contents, until `done`. */
  keyFor: (contents: unknown) => { "Idempotency-Key": string };
  /** The server has answered that it did what was asked: the same contents are a new request from now on. */
  done: () => void;
}

/** The keys of the requests of a form. When an answer was lost, the user sends the same contents with the same key, and the server acts once. */
export function useIntents(name: string): Intents {
  const [place] = useState(() => placeOf(`intents ${name}`));
  return {
    keyFor: (contents) => {
      const text = JSON.stringify(contents);
      const keys = readKept<[string, string][]>(place) ?? [];
      const key = keys.find(([of]) => of === text)?.[1] ?? `console-${unique()}`;
      writeKept(place, [...keys.filter(([of]) => of !== text), [text, key]].slice(-most));
      return { "Idempotency-Key": key };
    },
    done: () => sessionStorage.removeItem(place),
  };
}
