// Grants as a matrix: which project may claim from which shared pool.
import { useState } from "preact/hooks";
import { api, ask, type Pool } from "../api";
import { plural } from "../format";
import { useLoad } from "../load";
import { each, firstPools } from "../pools";
import { Link, to } from "../router";
import { may } from "../session";
import { Dialog, Empty, Heading, Input, Select, Table } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";
import { grant } from "./hand-over";

const most = 100; // shared pools whose grants are asked for
interface Row { pool: Pool; consumers: string[] }
interface Matrix { rows: Row[]; looked: number; partial: boolean; more: boolean }

async function load(project: string): Promise<Matrix> {
  const { items, cursor } = await firstPools(project, 2000);
  const shared = items.filter((pool) => pool.spec.visibility === "shared");
  const rows = await each(shared.slice(0, most), async (pool) => {
    const answer = await ask(api.GET("/v1/projects/{project}/pools/{pool}/grants", {
      params: { path: { project, pool: pool.metadata.name }, query: { limit: 200 } },
    }));
    return { pool, consumers: answer.items.map((g) => g.spec.consumer) };
  });
  return { rows, looked: items.length, partial: cursor !== undefined, more: shared.length > most };
}

export function GrantsPage({ project }: { project: string }) {
  const matrix = useLoad(`grants:${project}`, () => load(project), ["IPPool"]);
  const [adding, setAdding] = useState(false);
  return (
    <>
      <Heading title="Grants" note="Which projects may claim from which pools. Only shared pools can be granted.">
        {may("provider", project) && <button type="button" class="primary" onClick={() => setAdding(true)}>Grant a pool</button>}
      </Heading>
      <Shown of={matrix}>{(data) => <Grid matrix={data} project={project} reload={matrix.reload} />}</Shown>
      {adding && matrix.data && (
        <Add
          project={project}
          rows={matrix.data.rows}
          close={() => setAdding(false)}
          done={() => {
            setAdding(false);
            matrix.reload();
          }}
        />
      )}
    </>
  );
}

function Grid({ matrix, project, reload }: { matrix: Matrix; project: string; reload: () => void }) {
  const consumers = [...new Set(matrix.rows.flatMap((row) => row.consumers))].sort();
  const [asked, setAsked] = useState<{ pool: string; consumer: string } | undefined>();
  const shown = consumers.slice(0, 12);
  if (matrix.rows.length === 0) {
    return <Empty>No pool of this project is shared. “Carve for a team” on a pool's page makes one and grants it.</Empty>;
  }
  return (
    <>
      <Table
        label="Grants"
        head={["Pool", "Block", ...shown.map((c) => (c === "*" ? "everybody" : c)), ...(consumers.length > 12 ? ["others"] : [])]}>
        {matrix.rows.map(({ pool, consumers: granted }) => (
          <tr key={pool.metadata.uid}>
            <th scope="row"><Link to={to.pool(project, pool.metadata.name)}>{pool.metadata.name}</Link></th>
            <td class="mono">{pool.status.allocatedCIDR}</td>
            {shown.map((consumer) => (
              <td key={consumer}>
                {granted.includes(consumer) && (
                  <Cell pool={pool.metadata.name} consumer={consumer} changes={may("provider", project)} ask={setAsked} />
                )}
              </td>
            ))}
            {consumers.length > 12 && <td>{plural(granted.filter((c) => !shown.includes(c)).length, "project")}</td>}
          </tr>
        ))}
      </Table>
      {(matrix.partial || matrix.more) && <p class="note">Of the first {matrix.looked.toLocaleString("en")} pools in order of name.</p>}
      {asked && <Withdraw project={project} {...asked} close={() => setAsked(undefined)} done={() => { setAsked(undefined); reload(); }} />}
    </>
  );
}

function Cell({
  pool,
  consumer,
  changes,
  ask: choose,
}: {
  pool: string;
  consumer: string;
  changes: boolean;
  ask: (g: { pool: string; consumer: string }) => void;
}) {
  if (!changes) return <>granted</>;
  return (
    <button type="button" class="quiet" aria-label={`granted: withdraw ${pool} from ${consumer}`} onClick={() => choose({ pool, consumer })}>
      granted
    </button>
  );
}

function Withdraw({
  project,
  pool,
  consumer,
  close,
  done,
}: {
  project: string;
  pool: string;
  consumer: string;
  close: () => void;
  done: () => void;
}) {
  const [error, setError] = useState<unknown>();
  const withdraw = async () => {
    try {
      await ask(api.DELETE("/v1/projects/{project}/pools/{pool}/grants/{consumer}", { params: { path: { project, pool, consumer } } }));
      done();
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Dialog title={`Withdraw ${pool} from ${consumer}?`} close={close}>
      <p>New claims stop at once. What {consumer} holds stays, and can be released.</p>
      {error !== undefined && <Trouble error={error} />}
      <div class="actions">
        <button type="button" class="danger" onClick={() => void withdraw()}>
          Withdraw
        </button>
        <button type="button" onClick={close}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}

function Add({ project, rows, close, done }: { project: string; rows: Row[]; close: () => void; done: () => void }) {
  const [pool, setPool] = useState(rows[0]?.pool.metadata.name ?? "");
  const [consumer, setConsumer] = useState("");
  const [error, setError] = useState<unknown>();
  const submit = async (e: Event) => {
    e.preventDefault();
    try {
      await grant(project, pool, consumer);
      done();
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Dialog title="Grant a pool" close={close}>
      <form onSubmit={submit}>
        <Select
          label="Pool"
          value={pool}
          change={setPool}
          options={rows.map((r): [string, string] => [r.pool.metadata.name, r.pool.metadata.name])}
        />
        <Input
          label="Project"
          hint="A name, or * for every project. Nobody learns whether it exists."
          required
          value={consumer}
          change={setConsumer}
        />
        {error !== undefined && <Trouble error={error} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={pool === "" || consumer === ""}>
            Grant
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
