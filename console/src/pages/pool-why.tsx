// Why a pool is full, and remedies, in sentences with figures.
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { api, ask, type Pool, type Schemas } from "../api";
import { formatPercent, share } from "../format";
import { bits, formatCount, parseBlock } from "../net/cidr";
import { useLoad } from "../load";
import { goQuery, Link, to } from "../router";
import { may } from "../session";
import { Select } from "../ui/parts";
import { Shown } from "../ui/trouble";
import { Outcome } from "../ui/outcome";

export function PoolWhy({ pool }: { pool: Pool }) {
  const block = parseBlock(pool.status.allocatedCIDR)!;
  const project = pool.metadata.project!;
  const [length, setLength] = useState(String(pool.spec.allocation?.defaultPrefixLength ?? Math.min(bits(block.family), block.length + 4)));
  const body: Schemas["ClaimExplanationRequest"] = { spec: { poolRef: { name: pool.metadata.name }, prefixLength: Number(length) } };
  const explained = useLoad(`why:${project}:${pool.metadata.name}:${length}`, () => ask(api.POST("/v1/projects/{project}/claim-explanations", {
    params: { path: { project } }, body,
  })), ["IPClaim", "IPAllocation", "IPPool"]);
  const lengths = Array.from({ length: bits(block.family) - block.length + 1 }, (_, i) => String(block.length + i));
  return (
    <div class="columns">
      <section aria-label="Where the addresses are">
        <h2>Where the addresses are</h2>
        <Shares pool={pool} />
      </section>
      <section aria-label="Would a block fit?">
        <h2>Would a block fit?</h2>
        <Select label="Size" value={length} change={setLength} options={lengths.map((l) => [l, `/${l}`])} />
        <Shown of={explained} rows={2}>
          {(answer) => (
            <Outcome
              answer={answer}
              apply={(r) => {
                if (r.pointer === "/spec/prefixLength" && r.value) setLength(r.value);
              }}
            />
          )}
        </Shown>
      </section>
    </div>
  );
}

function Shares({ pool }: { pool: Pool }) {
  const { capacity } = pool.status;
  const project = pool.metadata.project!;
  const part = (count: string) => formatPercent(share(count, capacity.total));
  const lines: [string, string, ComponentChildren][] = [
    [
      "Held by claims and child pools",
      capacity.allocated,
      <>
        See the{" "}
        <button type="button" class="link" onClick={() => goQuery({ tab: "claims" })}>
          held blocks
        </button>
        ; unused claims are under <Link to={to.page(project, "unused")}>Unused</Link>.
      </>,
    ],
    ["Reserved", capacity.reserved, "Not available while the pool has these reservations."],
    ["Cooling down", capacity.coolingDown, "Released, and free again after the cool-down. No action is needed."],
    ["Free", capacity.available, free(pool)],
  ];
  return (
    <dl class="shares">
      {lines.filter(([, count]) => count !== "0").map(([name, count, help]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd><strong>{part(count)}</strong> · {formatCount(count)} addresses</dd>
          <dd class="note">{help}</dd>
        </div>
      ))}
      {may("provider", project) && pool.status.utilizationPercent >= 80 && (
        <div>
          <dt>Make room</dt>
          <dd class="note">
            Pools cannot grow. <Link to={to.newPool(project, pool.status.parentRef?.name)}>Carve another pool</Link>
            {pool.status.parentRef ? ` from ${pool.status.parentRef.name}` : ""} and claim from it; a class can use both pools.
          </dd>
        </div>
      )}
    </dl>
  );
}

function free(pool: Pool): string {
  const largest = pool.status.largestFreePrefixLength;
  if (largest === undefined) return "";
  return `The largest free block is a /${largest}. No larger block can be claimed, even if smaller blocks together have enough addresses.`;
}
