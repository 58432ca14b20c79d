// One search box over everything; the key / moves the focus to it.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { parseBlock } from "../net/cidr";
import { useCalm, useLoad } from "../load";
import { go, Link, query, to } from "../router";
import { lastProject } from "../session";
import { kindNames, pageOf, searchFor, titleOf, type Hit } from "../search";
import { Badge, Empty, Heading } from "../ui/parts";
import { Shown } from "../ui/trouble";

/** Puts the page of the address itself first, because it shows the holder. */
function withAddress(hits: Hit[], text: string, project: string | undefined): Hit[] {
  const block = !text.includes("/") && /[.:]/.test(text) ? parseBlock(text) : undefined;
  const owner = project ?? hits[0]?.project;
  return block && owner
    ? [{ kind: "Address", project: owner, name: text.trim(), cidr: text.trim(), why: "current and earlier holders" }, ...hits]
    : hits;
}

function HitLine({ hit }: { hit: Hit }) {
  return (
    <>
      <Badge>{kindNames[hit.kind]}</Badge>
      <span class={hit.kind === "Address" ? "mono strong" : "strong"}>{titleOf(hit)}</span>
      {hit.cidr && hit.kind !== "Address" && <span class="mono">{hit.cidr}</span>}
      <span class="note">{hit.project ? `${hit.project} · ` : ""}{hit.why}</span>
    </>
  );
}

const most = 12; // hits below the search box

export function SearchBox({ project }: { project: string | undefined }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const calm = useCalm(text.trim(), 90);
  const found = useLoad(calm.length > 1 ? `search:${calm}` : undefined, (signal) => searchFor(calm, { signal }));
  const all = calm.length > 1 ? withAddress(found.data?.items ?? [], calm, project) : [];
  const hits = all.slice(0, most);
  const more = all.length > most || found.data?.truncated === true;
  const last = hits.length - (more ? 0 : 1);
  useSlash(input);
  const choose = (hit: Hit | undefined) => {
    setOpen(false);
    input.current?.blur();
    go(hit ? pageOf(hit) : to.search(text.trim()));
    if (hit) setText("");
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "Escape") { setOpen(false); setText(""); input.current?.blur(); }
    else if (e.key === "ArrowDown") setAt(Math.min(at + 1, last));
    else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (e.key === "Enter" && text.trim()) choose(calm === text.trim() ? hits[at] : undefined);
    else return;
    e.preventDefault();
  };
  const shown = open && calm.length > 1;
  return (
    <div class="search" role="search">
      <input
        ref={input}
        type="search"
        role="combobox"
        aria-label="Search addresses, blocks, names, labels"
        aria-expanded={shown}
        aria-controls={list}
        aria-activedescendant={shown && at <= last && last >= 0 ? `${list}-${at}` : undefined}
        aria-autocomplete="list"
        list={undefined}
        placeholder="Search: 10.1.2.3, 10.0.0.0/8, name, env=prod"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onKeyDown={key}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), 150)}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setAt(0);
          setOpen(true);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul id={list} class={shown ? "hits" : "hits closed"} role="listbox" aria-label="Found">
        {shown && hits.map((hit, i) => (
          <li key={hit.kind + hit.project + hit.name + hit.cidr} id={`${list}-${i}`} role="option" aria-selected={i === at}
            onMouseDown={(e) => { e.preventDefault(); choose(hit); }}><HitLine hit={hit} /></li>
        ))}
        {shown && more && (
          <li id={`${list}-${hits.length}`} role="option" aria-selected={at === hits.length} onMouseDown={(e) => { e.preventDefault(); choose(undefined); }}>
            <span class="strong">Show all hits</span><span class="note">these are the first {hits.length}</span>
          </li>
        )}
        {shown && hits.length === 0 && <li role="option" aria-selected={false} class="note">{found.loading ? "Searching…" : "Nothing found"}</li>}
      </ul>
    </div>
  );
}

function useSlash(input: { current: HTMLInputElement | null }) {
  useEffect(() => {
    const slash = (e: KeyboardEvent) => {
      const typing = e.target instanceof HTMLElement && e.target.closest("input, textarea, select, dialog");
      if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || typing) return;
      e.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener("keydown", slash);
    return () => removeEventListener("keydown", slash);
  }, []);
}

export function SearchPage() {
  const text = query.value.get("q") ?? "";
  const project = localStorage.getItem(lastProject) ?? undefined;
  const found = useLoad(`search-page:${text}`, (signal) => searchFor(text, { limit: 100, signal }));
  return (
    <>
      <Heading title={`Search: ${text}`} />
      <Shown of={found}>
        {({ items, truncated }) => {
          const all = withAddress(items, text, project);
          return all.length === 0 ? (
            <Empty>Nothing was found. Enter an address, a block, the beginning of a name, or a label such as env=prod.</Empty>
          ) : (
            <>
              {truncated && <p class="note" role="status">The first {all.length}; there are more. Type more of the name, or write project/name to search one project.</p>}
              <ul class="plain">
                {all.map((hit) => (
                  <li key={hit.kind + hit.project + hit.name + hit.cidr} class="line">
                    <Link to={pageOf(hit)}>
                      <HitLine hit={hit} />
                    </Link>
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </Shown>
    </>
  );
}
