// Loading for pages: what was shown before stays on the screen while it is asked for again.
import { effect, signal } from "@preact/signals";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isGone } from "./api";

const kept = new Map<string, unknown>();
const keepAtMost = 200;

/** Counts the changes that the feed told of each kind. */
export const changes = signal<Record<string, number>>({});

/** Drops all answers: they belong to whoever was signed in. */
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

/** Loads what belongs to a key, and again when the feed tells of a change of one of the kinds, not more often than each `calm` milliseconds. */
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
        if (isGone(error)) kept.delete(key); // the data that was shown is no longer true
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

/** Calls back, not too often, when something of these kinds has changed. */
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

/** A value that has not changed for a while. */
export function useCalm<T>(value: T, milliseconds = 250): T {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
