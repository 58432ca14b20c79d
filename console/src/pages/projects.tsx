// All projects of the caller.
import { useState } from "preact/hooks";
import { api, ask, newKey } from "../api";
import { useLoad } from "../load";
import { go, Link, to } from "../router";
import { whoami } from "../session";
import { loadProjects } from "../shell";
import { Dialog, Empty, Heading, Input, Table, When } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";

export function ProjectsPage() {
  const projects = useLoad("projects", loadProjects);
  const [making, setMaking] = useState(false);
  const [filter, setFilter] = useState("");
  const roles = new Map(whoami.value?.roles.map((r) => [r.project, r.role]));
  return (
    <>
      <Heading title="Projects" note="A project is a tenant: it owns pools and claims, and nobody without a role sees them.">
        {whoami.value?.platformAdmin && <button type="button" class="primary" onClick={() => setMaking(true)}>New project</button>}
      </Heading>
      <Shown of={projects}>
        {({ items, cursor }) => (
          <>
            {items.length > 10 && <Input label="Filter" value={filter} change={setFilter} />}
            {cursor && <p class="note">The first {items.length} in order of name. Search finds the others.</p>}
            {items.length === 0 ? <Empty>You have no role in any project yet. Ask an admin for one.</Empty> : (
              <Table label="Projects" head={["Name", "Description", "Your role", "Created"]}>
                {items.filter((p) => `${p.metadata.name} ${p.spec.displayName ?? ""}`.toLowerCase().includes(filter.toLowerCase())).map((p) => (
                  <tr key={p.metadata.uid}>
                    <th scope="row"><Link to={to.project(p.metadata.name)}>{p.metadata.name}</Link></th>
                    <td>{p.spec.description || p.spec.displayName}</td>
                    <td>{roles.get(p.metadata.name) ?? (whoami.value?.platformAdmin ? "admin" : "")}</td>
                    <td><When at={p.metadata.createdAt} /></td>
                  </tr>
                ))}
              </Table>
            )}
          </>
        )}
      </Shown>
      {making && <NewProject close={() => setMaking(false)} />}
    </>
  );
}

function NewProject({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [error, setError] = useState<unknown>();
  const submit = async (e: Event) => {
    e.preventDefault();
    try {
      await ask(api.POST("/v1/projects", { params: { header: newKey() }, body: { metadata: { name }, spec: { description } } }));
      go(to.project(name));
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Dialog title="New project" close={close}>
      <form onSubmit={submit}>
        <Input label="Name" value={name} change={setName} required hint="Lower-case letters, digits and hyphens." />
        <Input label="Description" value={description} change={setDescription} />
        {error !== undefined && <Trouble error={error} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={name === ""}>Create project</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
