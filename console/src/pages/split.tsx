// Splitting a pool into child pools of one size: each is tried first, and only what is free is carved.
import { useState } from "preact/hooks";
import { Refused, type Pool } from "../api";
import { plural } from "../format";
import { useCalm, useLoad } from "../load";
import { bits, formatCIDR, parseBlock, partOf } from "../net/cidr";
import { each, getPool } from "../pools";
import { Link, to } from "../router";
import { Badge, Empty, Heading, Input, Select, Table } from "../ui/parts";
import { Shown } from "../ui/trouble";
import { makePool, tryPool } from "./pool-form";

const most = 64;
interface Part { cidr: string; name: string; outcome: "free" | "refused" | "made"; detail?: string }

const bodyOf = (pool: string, part: { cidr: string; name: string }) => ({
  metadata: { name: part.name },
  spec: { parentRef: { name: pool }, cidr: part.cidr },
});

/** Tries or makes one part, and says what came of it. */
async function attempt(project: string, pool: string, part: { cidr: string; name: string }, make: boolean): Promise<Part> {
  try {
    await (make ? makePool : tryPool)(project, bodyOf(pool, part));
    return { ...part, outcome: make ? "made" : "free" };
  } catch (cause) {
    if (cause instanceof Refused) return { ...part, outcome: "refused", detail: cause.problem.detail };
    throw cause;
  }
}

export function SplitPage({ project, name }: { project: string; name: string }) {
  const pool = useLoad(`pool:${project}:${name}`, () => getPool(project, name));
  return (
    <>
      <Heading title={`Split ${name}`} crumbs={[{ to: to.page(project, "pools"), text: "Pools" }, { to: to.pool(project, name), text: name }]}
        note="The preview asks the server about each part and changes nothing." />
      <Shown of={pool}>{(found) => <Split pool={found} project={project} />}</Shown>
    </>
  );
}

function Split({ pool, project }: { pool: Pool; project: string }) {
  const block = parseBlock(pool.status.allocatedCIDR)!;
  const name = pool.metadata.name;
  const lengths = lengthsOf(pool);
  const [length, setLength] = useState(String(lengths[Math.min(1, lengths.length - 1)] ?? block.length));
  const [prefix, setPrefix] = useState(name);
  const [done, setDone] = useState<Part[] | undefined>();
  const [busy, setBusy] = useState(false);
  const wanted = useCalm({ length: Number(length), prefix }, 300);
  const parts = Array.from({ length: Math.min(most, 2 ** (wanted.length - block.length)) }, (_, i) => ({
    cidr: formatCIDR(partOf(block, wanted.length, i)), name: `${wanted.prefix}-${i + 1}`,
  }));
  const preview = useLoad(`split:${project}:${name}:${JSON.stringify(wanted)}`, () => each(parts, (part) => attempt(project, name, part, false), 4));
  const carve = async () => {
    setBusy(true);
    const free = (preview.data ?? []).filter((part) => part.outcome === "free");
    setDone(await each(free, (part) => attempt(project, name, part, true), 2));
    setBusy(false);
  };
  if (lengths.length === 0) return <Empty>The sizes that this pool hands out make more than {most} parts.</Empty>;
  if (done) return <Carved parts={done} project={project} name={name} />;
  return (
    <>
      <div class="filters">
        <Select
          label="Into parts of"
          value={length}
          change={setLength}
          options={lengths.map((l) => [String(l), `/${l} (${2 ** (l - block.length)} parts)`])}
        />
        <Input label="Names begin with" value={prefix} change={setPrefix} />
      </div>
      <Shown of={preview} rows={6}>
        {(tried) => {
          const free = tried.filter((part) => part.outcome === "free").length;
          return (
            <>
              <Parts parts={tried} />
              <p class="note">
                {plural(free, "part")} of {tried.length} can be carved{free < tried.length ? "; what is refused is left as it is" : ""}.
              </p>
              <button type="button" class="primary" disabled={busy || free === 0} onClick={() => void carve()}>
                {busy ? "Carving…" : `Carve ${plural(free, "pool")}`}
              </button>
            </>
          );
        }}
      </Shown>
    </>
  );
}

/** The lengths of child pools that the bounds of the pool allow, and that make few enough parts. */
function lengthsOf(pool: Pool): number[] {
  const block = parseBlock(pool.status.allocatedCIDR)!;
  const { minPrefixLength = 0, maxPrefixLength = bits(block.family) } = pool.spec.allocation ?? {};
  return Array.from({ length: 6 }, (_, i) => block.length + 1 + i).filter((l) => l >= minPrefixLength && l <= maxPrefixLength);
}

const outcomes = { free: "Can be carved", refused: "Refused", made: "Carved" };

function Parts({ parts }: { parts: Part[] }) {
  return (
    <Table label="Parts" head={["Block", "Name", "Outcome", "Why"]}>
      {parts.map((part) => (
        <tr key={part.cidr}>
          <td class="mono">{part.cidr}</td>
          <td>{part.name}</td>
          <td><Badge kind={part.outcome === "refused" ? "bad" : "good"}>{outcomes[part.outcome]}</Badge></td>
          <td class="note">{part.detail}</td>
        </tr>
      ))}
    </Table>
  );
}

function Carved({ parts, project, name }: { parts: Part[]; project: string; name: string }) {
  const made = parts.filter((part) => part.outcome === "made").length;
  return (
    <>
      <p role="status">{plural(made, "pool")} of {parts.length} carved. <Link to={to.pool(project, name)}>Back to {name}</Link></p>
      <Parts parts={parts} />
    </>
  );
}
