// Draws only the rows that can be seen, all of one height.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const tallest = 8_000_000; // px; browsers do not lay out much more
const spare = 8;

interface VirtualProps {
  count: number;
  rowHeight: number;
  row: (index: number) => ComponentChildren;
  /** Told which rows are drawn. */
  seen?: (first: number, last: number) => void;
  /** A row that has to be visible. */
  keepInView?: number | undefined;
  className?: string;
}

export function Virtual({ count, rowHeight, row, seen, keepInView, className = "" }: VirtualProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const full = count * rowHeight;
  const scale = full > tallest ? full / tallest : 1;
  useLayoutEffect(() => {
    const element = box.current!;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => { resized.disconnect(); element.removeEventListener("scroll", look); };
  }, []);
  useLayoutEffect(() => {
    const element = box.current!;
    if (keepInView === undefined) return;
    const top = (keepInView * rowHeight) / scale;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [keepInView]);
  const offset = view.top * scale;
  const first = Math.max(0, Math.floor(offset / rowHeight) - spare);
  const last = Math.min(count, Math.ceil((offset + view.height) / rowHeight) + spare);
  useLayoutEffect(() => seen?.(first, last), [first, last, count]);
  const rows = [];
  for (let i = first; i < last; i++) rows.push(row(i));
  return (
    <div ref={box} class={`virtual ${className}`} role="presentation">
      <div class="all" role="presentation" style={{ height: `${full / scale}px` }}>
        <div class="shown" role="presentation" style={{ transform: `translateY(${first * rowHeight - offset + view.top}px)` }}>{rows}</div>
      </div>
    </div>
  );
}
