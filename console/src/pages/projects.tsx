// All projects of the caller.
import { useState } from "preact/hooks";
import { api, ask } from "../api";
import { errorAt, nameError } from "../fields";
import { useIntents, useKept } from "../kept";
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
      <Heading title="Projects" note="A project is a tenant: it owns pools and claims, and only people with a role in it see them.">
        {whoami.value?.platformAdmin && <button type="button" class="primary" onClick={() => setMaking(true)}>New project</button>}
      </Heading>
      <Shown of={projects}>
        {({ items, cursor }) => (
          <>
            {items.length > 10 && <Input label="Filter" value={filter} change={setFilter} />}
            {cursor && <p class="note">The first {items.length.toLocaleString("en")} projects in order of name. The search box finds the others by the beginning of their names.</p>}
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
  const form = useKept("new", () => ({ name: "", description: "" }));
  const intents = useIntents("project");
  const { name, description } = form.value;
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const body = { metadata: { name }, spec: { description } };
      await ask(api.POST("/v1/projects", { params: { header: intents.keyFor(body) }, body }));
      intents.done();
      form.clear();
      go(to.project(name));
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  return (
    <Dialog title="New project" close={close}>
      <form onSubmit={submit}>
        <Input label="Name" value={name} change={(next) => form.set({ ...form.value, name: next })} required hint="Lower-case letters, digits and hyphens."
          error={nameError(name) ?? errorAt(error, "Name")} />
        <Input label="Description" value={description} change={(next) => form.set({ ...form.value, description: next })} error={errorAt(error, "Description")} />
        {error !== undefined && <Trouble error={error} fields={["Name", "Description"]} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={busy || name === "" || nameError(name) !== undefined}>Create project</button>
          <button type="button" onClick={() => { form.clear(); close(); }}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
