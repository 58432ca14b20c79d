// Splitting a pool into child pools of one size. The page tries each part first and carves the free ones. After an interruption it continues with the
// rest.
import { useState } from "preact/hooks";
import { Refused, type Pool } from "../api";
import { nameError } from "../fields";
import { plural } from "../format";
import { useIntents, useKept } from "../kept";
import { useCalm, useLoad } from "../load";
import { bits, formatCIDR, parseBlock, partOf } from "../net/cidr";
import { each, getPool, ignoreGone } from "../pools";
import { Link, to } from "../router";
import { Badge, Empty, Heading, Input, Select, Table } from "../ui/parts";
import { Gone } from "../ui/gone";
import { Shown, Trouble } from "../ui/trouble";
import { makePool, tryPool } from "./pool-form";

const most = 64;
interface Part { cidr: string; name: string; outcome: "free" | "refused" | "there"; detail?: string }
type Wanted = Pick<Part, "cidr" | "name">;

const bodyOf = (pool: string, part: Wanted) => ({
  metadata: { name: part.name },
  spec: { parentRef: { name: pool }, cidr: part.cidr },
});

/** Tries one part in a dry run: it is free, or an earlier attempt carved it, or the server refuses it. */
async function attempt(project: string, pool: string, part: Wanted): Promise<Part> {
  try {
    await tryPool(project, bodyOf(pool, part));
    return { ...part, outcome: "free" };
  } catch (cause) {
    if (!(cause instanceof Refused)) throw cause;
    if (cause.problem.status === 409 && await isThere(project, pool, part)) return { ...part, outcome: "there" };
    return { ...part, outcome: "refused", detail: cause.problem.detail };
  }
}

async function isThere(project: string, pool: string, part: Wanted): Promise<boolean> {
  const found = await getPool(project, part.name).catch(ignoreGone);
  return found?.status.parentRef?.name === pool && found.status.allocatedCIDR === part.cidr;
}

export function SplitPage({ project, name }: { project: string; name: string }) {
  const pool = useLoad(`pool:${project}:${name}`, () => getPool(project, name));
  return (
    <>
      <Heading title={`Split ${name}`} crumbs={[{ to: to.page(project, "pools"), text: "Pools" }, { to: to.pool(project, name), text: name }]}
        note="The preview asks the server about each part and changes nothing." />
      <Shown of={pool} gone={<Gone project={project} kind="IPPool" name={name} />}>{(found) => <Split pool={found} project={project} />}</Shown>
    </>
  );
}

function Split({ pool, project }: { pool: Pool; project: string }) {
  const block = parseBlock(pool.status.allocatedCIDR)!;
  const name = pool.metadata.name;
  const lengths = lengthsOf(pool);
  const form = useKept("form", () => ({ length: String(lengths[Math.min(1, lengths.length - 1)] ?? block.length), prefix: name }));
  const { length, prefix } = form.value;
  const intents = useIntents("parts");
  const [carved, setCarved] = useState<number>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const wanted = useCalm({ length: Number(length), prefix }, 300);
  const wrong = nameError(`${prefix}-${most}`);
  const parts = Array.from({ length: Math.min(most, 2 ** (wanted.length - block.length)) }, (_, i) => ({
    cidr: formatCIDR(partOf(block, wanted.length, i)), name: `${wanted.prefix}-${i + 1}`,
  }));
  const preview = useLoad(wrong ? undefined : `split:${project}:${name}:${JSON.stringify(wanted)}`, () => each(parts, (part) => attempt(project, name, part), 4));
  const carve = async () => {
    setBusy(true);
    setError(undefined);
    let made = carved ?? 0;
    try {
      await each(preview.data!.filter((part) => part.outcome === "free"), async (part) => {
        const body = bodyOf(name, part);
        try {
          await makePool(project, body, intents.keyFor(body));
          setCarved(++made);
        } catch (cause) {
          // A refusal concerns only this part, and the preview shows it. Any other error concerns all parts.
          if (!(cause instanceof Refused) || cause.problem.status === 401 || cause.problem.status >= 429) throw cause;
        }
      }, 2);
      intents.done();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
      preview.reload();
    }
  };
  const change = (part: Partial<typeof form.value>) => { setCarved(undefined); setError(undefined); form.set({ ...form.value, ...part }); };
  if (lengths.length === 0) return <Empty>With the sizes that this pool allows, there are more than {most} parts.</Empty>;
  return (
    <>
      <div class="filters">
        <Select label="Into parts of" value={length} change={(next) => change({ length: next })} disabled={busy}
          options={lengths.map((l) => [String(l), `/${l} (${2 ** (l - block.length)} parts)`])} />
        <Input label="Names begin with" value={prefix} change={(next) => change({ prefix: next })} error={wrong} disabled={busy} />
      </div>
      {error !== undefined && <Trouble error={error} />}
      <Shown of={preview} rows={6}>
        {(tried) => {
          const count = (outcome: Part["outcome"]) => tried.filter((part) => part.outcome === outcome).length;
          const free = count("free");
          return (
            <>
              <p role="status" class={carved === undefined ? "note" : "strong"}>
                {carved !== undefined && `${plural(carved, "pool")} carved. `}
                {sentence(free, count("there"), count("refused"))}{" "}
                {free === 0 && count("there") > 0 && <Link to={to.pool(project, name, "?tab=children")}>Back to {name}</Link>}
              </p>
              <Parts parts={tried} />
              {free > 0 && (
                <button type="button" class="primary" disabled={busy || preview.loading} onClick={() => void carve()}>
                  {busy ? "Carving…" : `${count("there") > 0 ? "Continue: carve" : "Carve"} ${plural(free, "pool")}`}
                </button>
              )}
            </>
          );
        }}
      </Shown>
    </>
  );
}

function sentence(free: number, there: number, refused: number): string {
  const all = free + there + refused;
  if (free === 0 && there === all) return `All ${plural(all, "part")} are child pools.`;
  const words = [`${plural(free, "part")} of ${all} can be carved`];
  if (there > 0) words.push(`${there} ${there === 1 ? "exists" : "exist"} already`);
  if (refused > 0) words.push(`${refused} ${refused === 1 ? "is" : "are"} refused`);
  return words.join(", ") + ".";
}

/** Returns the lengths of child pools that the pool allows and that give few enough parts. */
function lengthsOf(pool: Pool): number[] {
  const block = parseBlock(pool.status.allocatedCIDR)!;
  const { minPrefixLength = 0, maxPrefixLength = bits(block.family) } = pool.spec.allocation ?? {};
  return Array.from({ length: 6 }, (_, i) => block.length + 1 + i).filter((l) => l >= minPrefixLength && l <= Math.min(maxPrefixLength, bits(block.family)));
}

const outcomes: { [outcome in Part["outcome"]]: [string, string] } = { free: ["Can be carved", "good"], refused: ["Refused", "bad"], there: ["Exists already", ""] };

function Parts({ parts }: { parts: Part[] }) {
  return (
    <Table label="Parts" head={["Block", "Name", "State", "Why"]}>
      {parts.map((part) => (
        <tr key={part.cidr}>
          <td class="mono">{part.cidr}</td>
          <td>{part.name}</td>
          <td><Badge kind={outcomes[part.outcome][1]}>{outcomes[part.outcome][0]}</Badge></td>
          <td class="note">{part.detail}</td>
        </tr>
      ))}
    </Table>
  );
}
