// The explanation of a claim: the block it would get, or the refusal with remedies. Each remedy is one click.
import { kindWords } from "../words";
import type { Remedy, Schemas } from "../api";
import { Badge } from "./parts";

interface OutcomeProps {
  answer: Schemas["ClaimExplanation"];
  apply?: (remedy: Remedy) => void;
}

export function Outcome({ answer, apply }: OutcomeProps) {
  const bound = answer.outcome === "Bound";
  return (
    <div class={`outcome ${bound ? "good" : "bad"}`}>
      {bound ? (
        <p>
          <Badge kind="good">Would get</Badge> <span class="mono strong big">{answer.allocatedCIDR}</span> from {answer.poolRef?.project}/
          {answer.poolRef?.name}
        </p>
      ) : (
        <p>
          <Badge kind="bad">Would be refused</Badge>{" "}
          <a href={`/problems/${answer.code}`} target="_blank" rel="noopener">
            <code>{answer.code}</code>
          </a>
        </p>
      )}
      <p>{answer.detail}</p>
      {answer.remedies.length > 0 && (
        <>
          <p class="strong">Remedies</p>
          <ul class="remedies">{answer.remedies.map((r) => (
            <li key={r.detail}>
              <span>{r.detail}</span>
              {apply && r.pointer && r.value !== undefined && <button type="button" onClick={() => apply(r)}>Use {nice(r)}</button>}
            </li>
          ))}</ul>
        </>
      )}
      {answer.steps.length > 0 && (
        <details>
          <summary>How this was decided</summary>
          <ol class="steps">
            {answer.steps.map((s, i) => (
              <li key={i}>
                <Badge kind={s.outcome === "chosen" || s.outcome === "allowed" ? "good" : "warn"}>{s.outcome}</Badge>{" "}
                {kindWords[s.kind] ?? s.kind} {s.name}: {s.detail}
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

const nice = (r: Remedy) => (r.pointer === "/spec/prefixLength" ? `/${r.value}` : r.value);
