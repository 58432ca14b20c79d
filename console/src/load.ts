// Loading for pages: the earlier data stays on the screen while the page loads again.
import { effect, signal } from "@preact/signals";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isGone } from "./api";

const kept = new Map<string, unknown>();
const keepAtMost = 200;

/** The number of changes of each kind that the feed has reported. */
export const changes = signal<Record<string, number>>({});

/** Removes all cached data: it belongs to the user who was signed in. */
export function forget() {
  kept.clear();
}

function keep(key: string, data: unknown) {
  kept.delete(key);
  kept.set(key, data);
  if (kept.size > keepAtMost) kept.delete(kept.keys().next().value!);
}

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

/** Loads the data of a key, and loads again when the feed reports a change of one of the kinds, at most once in `calm` milliseconds. */
export function useLoad<T>(key: string | undefined, load: (signal: AbortSignal) => Promise<T>, kinds: string[] = [], calm = 1000): Loaded<T> {
  const [state, setState] = useState<{ key?: string | undefined; data?: T | undefined; error?: unknown; loading: boolean }>({ loading: true });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === undefined) return;
    const stop = new AbortController();
    const before = kept.get(key) as T | undefined;
    setState((was) => ({ key, data: was.key === key ? was.data ?? before : before, loading: true }));
    latest.current(stop.signal).then(
      (data) => {
        keep(key, data);
        if (!stop.signal.aborted) setState({ key, data, loading: false });
      },
      (error: unknown) => {
        if (isGone(error)) kept.delete(key); // the data on the screen is outdated
        if (!stop.signal.aborted) setState((was) => ({ key, data: isGone(error) ? undefined : was.data, error, loading: false }));
      },
    );
    return () => stop.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  useChanges(kinds, reload, calm);
  const own = state.key === key;
  return {
    data: own ? state.data : (kept.get(key ?? "") as T | undefined),
    error: own ? state.error : undefined,
    loading: !own || state.loading,
    reload,
  };
}

/** Calls back when one of these kinds has changed, at most once in `calm` milliseconds. */
export function useChanges(kinds: string[], then: () => void, calm = 1000) {
  const wanted = kinds.join();
  useEffect(() => {
    if (wanted === "") return undefined;
    const count = () => wanted.split(",").reduce((sum, kind) => sum + (changes.value[kind] ?? 0), 0);
    let seen: number | undefined;
    let last = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      const now = count();
      if (seen !== undefined && now !== seen && timer === undefined) {
        timer = setTimeout(() => { timer = undefined; last = Date.now(); then(); }, Math.max(150, last + calm - Date.now()));
      }
      seen = now;
    });
    return () => { stop(); clearTimeout(timer); };
  }, [wanted, then, calm]);
}

/** Returns a value only after it has not changed for a while. */
export function useCalm<T>(value: T, milliseconds = 250): T {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
