// Draws only the visible rows of a list whose rows have the same height. A row that stays on the screen is neither drawn again nor moved.
import type { ComponentChild } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const tallest = 8_000_000; // px; browsers do not lay out much more
const step = 8; // rows that are added and removed together

interface VirtualProps {
  count: number;
  rowHeight: number;
  /** Draws a row. The result is used again until this is another function. */
  row: (index: number, top: number) => ComponentChild;
  /** Is called with the range of drawn rows. */
  seen?: (first: number, last: number) => void;
  /** A row that must be visible. */
  keepInView?: number | undefined;
  className?: string;
}

interface View {
  top: number;
  height: number;
}

export function Virtual({ count, rowHeight, row, seen, keepInView, className = "" }: VirtualProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ top: 0, height: 600 });
  const full = count * rowHeight;
  const scale = useRef(1);
  scale.current = full > tallest ? full / tallest : 1;
  useLayoutEffect(() => {
    const element = box.current!;
    const block = (top: number) => (scale.current > 1 ? top : Math.floor(top / rowHeight / step));
    const look = () => {
      const now = { top: element.scrollTop, height: element.clientHeight };
      setView((was) => (block(was.top) === block(now.top) && was.height === now.height ? was : now));
    };
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current!;
    if (keepInView === undefined) return;
    const top = (keepInView * rowHeight) / scale.current;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [keepInView]);
  const offset = view.top * scale.current;
  const at = Math.floor(offset / rowHeight / step) * step;
  const first = Math.max(0, Math.min(at, count) - step);
  const last = Math.min(count, at + Math.ceil(view.height / rowHeight) + 2 * step);
  useLayoutEffect(() => seen?.(first, last), [first, last, count]);
  const drawn = useRef({ row, rows: new Map<number, ComponentChild>() });
  const before = drawn.current.row === row ? drawn.current.rows : undefined;
  const rows = new Map<number, ComponentChild>();
  for (let i = first; i < last; i++) rows.set(i, before?.get(i) ?? row(i, i * rowHeight));
  drawn.current = { row, rows };
  return (
    <div ref={box} class={`virtual ${className}`} role="presentation">
      <div class="all" role="presentation" style={{ height: `${full / scale.current}px` }}>
        <div role="presentation" style={scale.current > 1 ? { transform: `translateY(${view.top - offset}px)` } : {}}>{[...rows.values()]}</div>
      </div>
    </div>
  );
}
