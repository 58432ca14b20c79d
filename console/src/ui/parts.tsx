// Small components of pages.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { formatAge, formatPercent, formatTime } from "../format";
import { Link } from "../router";

/**
 * Shows a percentage as a bar and as a number. A full pool that is divided among child pools is not red, because the use of the child pools is not
 * known here.
 */
export function Bar({ percent, cooling = 0, label, divided = false }: { percent: number; cooling?: number; label?: string; divided?: boolean | undefined }) {
  const level = divided ? "divided" : percent >= 95 ? "full" : percent >= 80 ? "high" : "";
  const words = `${formatPercent(percent)} ${divided ? "handed on or held" : "used"}`;
  return (
    <span class={`bar ${level}`} role="img" aria-label={`${label ? label + ": " : ""}${words}`} title={divided ? `${words}: other pools were carved from this one` : undefined}>
      <span class="track">
        <span class="fill" style={{ width: `${Math.min(100, percent)}%` }} />
        {cooling > 0 && <span class="cooling" style={{ width: `${Math.min(100 - percent, cooling)}%` }} />}
      </span>
      <span class="number" aria-hidden="true">{formatPercent(percent)}</span>
    </span>
  );
}

export const Mono = ({ children }: { children: ComponentChildren }) => <span class="mono">{children}</span>;

export function Badge({ kind = "", children }: { kind?: string; children: ComponentChildren }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}

/** Shows the age of a moment, with the exact time on hover. */
export function When({ at }: { at: string }) {
  return <time dateTime={at} title={formatTime(at)}>{formatAge(at)}</time>;
}

export function Heading({ title, mono, crumbs, note, children }: {
  title: ComponentChildren; mono?: boolean; crumbs?: { to: string; text: string }[]; note?: ComponentChildren; children?: ComponentChildren;
}) {
  return (
    <header class="heading">
      <div>
        {crumbs && <nav aria-label="Where this is" class="crumbs">{crumbs.map((c) => <Link key={c.to} to={c.to}>{c.text}</Link>)}</nav>}
        <h1 tabIndex={-1} class={mono ? "mono" : ""}>{title}</h1>
        {note && <p class="note">{note}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </header>
  );
}

export function Card({ title, aside, children, wide }: { title: string; aside?: ComponentChildren; children: ComponentChildren; wide?: boolean }) {
  const id = useId();
  return (
    <section class={`card ${wide ? "wide" : ""}`} aria-labelledby={id}>
      <header><h2 id={id}>{title}</h2>{aside}</header>
      {children}
    </section>
  );
}

export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.filter(([, value]) => value !== undefined && value !== "" && value !== false).map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
    </dl>
  );
}

/** A table that scrolls sideways on its own, also by keyboard. */
export function Table({ label, head, children }: { label: string; head: (string | [string, string])[]; children: ComponentChildren }) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>{head.map((h) => {
            const [text, style] = typeof h === "string" ? [h, ""] : h;
            return <th key={text} scope="col" class={style}>{text}</th>;
          })}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function Waiting({ rows = 4 }: { rows?: number }) {
  return (
    <div class="waiting" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => <span key={i} />)}
    </div>
  );
}

type FieldProps = {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  children: (id: string, described: string) => ComponentChildren;
};

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  return (
    <div class={`field ${error ? "wrong" : ""}`}>
      <label for={id}>{label}</label>
      {children(id, `${id}-hint`)}
      <small id={`${id}-hint`}>{error ?? hint}</small>
    </div>
  );
}

type InputProps = {
  label: string; hint?: ComponentChildren; error?: string | undefined; value: string; change: (value: string) => void;
  type?: "text" | "date"; placeholder?: string; required?: boolean; disabled?: boolean; inputMode?: "numeric";
  /** Values that the browser proposes while the user types. */
  suggest?: string[];
};

export function Input({ label, hint, error, change, type = "text", suggest, ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(id, described) => (
        <>
          <input
            {...rest}
            type={type}
            list={suggest ? `${id}-list` : undefined}
            id={id}
            aria-describedby={described}
            aria-invalid={error ? true : undefined}
            autocomplete="off"
            spellcheck={false}
            onInput={(e) => change(e.currentTarget.value)}
          />
          {suggest && <datalist id={`${id}-list`}>{suggest.map((value) => <option key={value} value={value} />)}</datalist>}
        </>
      )}
    </Field>
  );
}

type SelectProps = {
  label: string;
  hint?: ComponentChildren;
  value: string;
  options: [string, string][];
  change: (value: string) => void;
  disabled?: boolean;
};

export function Select({ label, hint, value, options, change, disabled }: SelectProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, described) => (
        <select id={id} aria-describedby={described} value={value} disabled={disabled} onChange={(e) => change(e.currentTarget.value)}>
          {options.map(([v, text]) => <option key={v} value={v} selected={v === value}>{text}</option>)}
        </select>
      )}
    </Field>
  );
}

/** Shows the labels of a resource. */
export function LabelList({ labels, most = 100 }: { labels: Record<string, string> | undefined; most?: number }) {
  const all = Object.entries(labels ?? {});
  if (all.length === 0) return null;
  return (
    <span class="labels">
      {all.slice(0, most).map(([name, value]) => <Badge key={name}>{`${name}=${value}`}</Badge>)}
      {all.length > most && <span class="note">and {all.length - most} more</span>}
    </span>
  );
}

/** Reports that a form has contents from an earlier visit, and offers to empty it. */
export function Restored({ form }: { form: { restored: boolean; clear: () => void } }) {
  if (!form.restored) return null;
  return <p class="note" role="status">The form has your earlier input. <button type="button" class="link" onClick={form.clear}>Clear it</button></p>;
}

/** Shows a text with a button that copies it. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  const shown = useRef<HTMLPreElement>(null);
  const copy = async () => {
    // Browsers allow the clipboard only on pages that came by HTTPS or from this machine. Elsewhere this selects the text.
    if (!navigator.clipboard) return getSelection()?.selectAllChildren(shown.current!);
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <div class="copy">
      <pre ref={shown} tabIndex={0} aria-label={label}>{text}</pre>
      <button type="button" class="quiet" onClick={copy} aria-label={`Copy ${label}`}>{done ? "Copied" : "Copy"}</button>
    </div>
  );
}

/** The browser's own modal dialog: it keeps the focus and closes with Escape. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current!;
    const before = document.activeElement;
    shown.showModal();
    return () => {
      shown.close(); // no other element can take the focus while the dialog is modal
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={close}
      onClick={(e) => { if (e.target === dialog.current) close(); }}>
      <div class="inside"><h2 id={id}>{title}</h2>{children}</div>
    </dialog>
  );
}

/** Tabs are buttons, between which the arrow keys move. Links would lose the focus. */
export function Tabs({ tabs, chosen, choose, label }: { tabs: [string, string][]; chosen: string; choose: (tab: string) => void; label: string }) {
  const move = (e: KeyboardEvent) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    e.preventDefault();
    const at = tabs.findIndex(([name]) => name === chosen);
    const next = (at + step + tabs.length) % tabs.length;
    choose(tabs[next]![0]);
    ((e.currentTarget as HTMLElement).children[next] as HTMLElement).focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(([name, text]) => (
        <button key={name} type="button" role="tab" id={`tab-${name}`} aria-selected={name === chosen} aria-controls={`panel-${name}`}
          tabIndex={name === chosen ? 0 : -1} onClick={() => choose(name)}>{text}</button>
      ))}
    </div>
  );
}

export function Panel({ name, children }: { name: string; children: ComponentChildren }) {
  return <div class="panel" role="tabpanel" id={`panel-${name}`} aria-labelledby={`tab-${name}`}>{children}</div>;
}
