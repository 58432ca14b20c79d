// Values that this tab keeps: the contents of forms and the state of lists. They survive a reload, Back and the end of a session, until the user
// signs out.
import { useState } from "preact/hooks";
import { Refused, unique } from "./api";
import { path, query } from "./router";
import { whoami } from "./session";

const prefix = "carve.kept:";

/** Returns a key in the tab's storage for one user and one page. Another user of this tab does not see the value. */
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

/** Removes all values when the user signs out. */
export function forgetKept() {
  for (const place of Object.keys(sessionStorage)) if (place.startsWith(prefix)) sessionStorage.removeItem(place);
}

export interface Kept<T> {
  value: T;
  set: (value: T) => void;
  /** Removes the value here and in the storage. */
  clear: () => void;
  /** The value is from an earlier visit to this page. */
  restored: boolean;
}

/** Is useState with a value that the tab keeps for this page under this name. Without `parameters`, all filters of the page share the value. */
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
  /** Returns the key for a request with these contents: the same for the same contents, until `done`. */
  keyFor: (contents: unknown) => { "Idempotency-Key": string };
  /** Notes why the request with these contents failed. */
  failed: (contents: unknown, cause: unknown) => void;
  /** Reports whether such a request was sent, and the page does not know its result. */
  unclear: (contents: unknown) => boolean;
  /** Ends the keys after the server has confirmed success: from now on the same contents are a new request. */
  done: () => void;
}

/**
 * Keeps the idempotency keys of a form's requests. After a lost response, the user sends the same contents with the same key, and the server acts
 * once.
 */
export function useIntents(name: string): Intents {
  const [place] = useState(() => placeOf(`intents ${name}`));
  const all = () => readKept<[contents: string, key: string, unclear: boolean][]>(place) ?? [];
  const put = (contents: unknown, unclear: boolean) => {
    const text = JSON.stringify(contents);
    const key = all().find(([of]) => of === text)?.[1] ?? `console-${unique()}`;
    writeKept(place, [...all().filter(([of]) => of !== text), [text, key, unclear]].slice(-most));
    return key;
  };
  return {
    keyFor: (contents) => ({ "Idempotency-Key": put(contents, true) }),
    failed: (contents, cause) => {
      const refused = cause instanceof Refused && cause.problem.status < 500 && ![401, 403, 429].includes(cause.problem.status);
      if (refused) put(contents, false);
    },
    unclear: (contents) => all().find(([of]) => of === JSON.stringify(contents))?.[2] === true,
    done: () => sessionStorage.removeItem(place),
  };
}
