// Grants as a matrix: which project may claim from which shared pool.
import { useState } from "preact/hooks";
import { api, ask, goneNow, pagesOf, ensure, type Pool, type Schemas } from "../api";
import { plural } from "../format";
import { useKept } from "../kept";
import { useLoad } from "../load";
import { each } from "../pools";
import { Link, to } from "../router";
import { may } from "../session";
import { Dialog, Empty, Heading, Input, Table } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";
import { grant, Team } from "./hand-over";

const page = 100; // shared pools that are shown at once
const mostGrants = 2000; // grants of one pool that are read
interface Row { pool: Pool; consumers: string[]; more: boolean }
interface Matrix { rows: Row[]; more: boolean }

/** The server filters all pools for the shared ones, a few thousand for each page. */
async function load(project: string, enough: number): Promise<Matrix> {
  const { items, cursor } = await pagesOf<Pool>((next) => ask(api.GET("/v1/projects/{project}/pools", {
    params: { path: { project }, query: { visibility: "shared", limit: page, ...(next ? { cursor: next } : {}) } },
  })), enough);
  const rows = await each(items, async (pool) => {
    const grants = await pagesOf<Schemas["Grant"]>((next) => ask(api.GET("/v1/projects/{project}/pools/{pool}/grants", {
      params: { path: { project, pool: pool.metadata.name }, query: { limit: 500, ...(next ? { cursor: next } : {}) } },
    })), mostGrants);
    return { pool, consumers: grants.items.map((g) => g.spec.consumer), more: grants.cursor !== undefined };
  });
  return { rows, more: cursor !== undefined };
}

export function GrantsPage({ project }: { project: string }) {
  const { value: enough, set: setEnough } = useKept("shown", () => page);
  const matrix = useLoad(`grants:${project}:${enough}`, () => load(project, enough), ["IPPool"], 5000);
  const [adding, setAdding] = useState(false);
  return (
    <>
      <Heading title="Grants" note="The projects that can claim from each pool. Only shared pools can be granted.">
        {may("provider", project) && <button type="button" class="primary" onClick={() => setAdding(true)}>Grant a pool</button>}
      </Heading>
      <Shown of={matrix}>
        {(data) => (
          <>
            <Grid matrix={data} project={project} reload={matrix.reload} />
            {data.more && (
              <p>
                <span class="note">The first {plural(data.rows.length, "shared pool")} in order of name; there may be more.</span>{" "}
                <button type="button" disabled={matrix.loading} onClick={() => setEnough(enough + 4 * page)}>Show more</button>
              </p>
            )}
          </>
        )}
      </Shown>
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
    if (matrix.more) return <Empty>No shared pool so far.</Empty>;
    return <Empty>No pool of this project is shared. “Carve for a team” on a pool's page creates one and grants it.</Empty>;
  }
  return (
    <>
      <Table
        label="Grants"
        head={["Pool", "Block", ...shown.map((c) => (c === "*" ? "all projects" : c)), ...(consumers.length > 12 ? ["others"] : [])]}>
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
            {consumers.length > 12 && (
              <td>
                <details>
                  <summary>{plural(granted.filter((c) => !shown.includes(c)).length, "project")}</summary>
                  {granted.filter((c) => !shown.includes(c)).map((consumer) => (
                    <p key={consumer}>{consumer} <Cell pool={pool.metadata.name} consumer={consumer} changes={may("provider", project)} ask={setAsked} /></p>
                  ))}
                </details>
              </td>
            )}
          </tr>
        ))}
      </Table>
      {matrix.rows.filter((row) => row.more).map((row) => (
        <p key={row.pool.metadata.uid} class="note">{row.pool.metadata.name} has more than {mostGrants.toLocaleString("en")} grants; the others are not shown.</p>
      ))}
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
      const params = { path: { project, pool, consumer } };
      await ensure(ask(api.DELETE("/v1/projects/{project}/pools/{pool}/grants/{consumer}", { params })),
        () => goneNow(ask(api.GET("/v1/projects/{project}/pools/{pool}/grants/{consumer}", { params }))));
      done();
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Dialog title={`Withdraw ${pool} from ${consumer}?`} close={close}>
      <p>New claims stop immediately. Existing claims by {consumer} stay, and can be released.</p>
      {error !== undefined && <Trouble error={error} />}
      <div class="actions">
        <button type="button" class="danger" onClick={() => void withdraw()}>
          Withdraw
        </button>
        <button type="button" autofocus onClick={close}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}

/** Adds a grant of any shared pool, including pools that are not in the list yet. */
function Add({ project, rows, close, done }: { project: string; rows: Row[]; close: () => void; done: () => void }) {
  const [pool, setPool] = useState(rows.length === 1 ? rows[0]!.pool.metadata.name : "");
  const [consumer, setConsumer] = useState("");
  const [error, setError] = useState<unknown>();
  const submit = async (e: Event) => {
    e.preventDefault();
    setError(undefined);
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
        <Input label="Pool" hint="A shared pool of this project." required value={pool} change={setPool} suggest={rows.map((row) => row.pool.metadata.name)} />
        <Team label="Project" hint="Its name, or * for every project." value={consumer} change={setConsumer} own={project} />
        {error !== undefined && <Trouble error={error} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={pool === "" || consumer === ""}>Grant</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
