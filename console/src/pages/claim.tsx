// A claim: its block, its source, its consumers, and its release.
import { useState } from "preact/hooks";
import { api, ask, asSeen, goneNow, ensure, type Claim } from "../api";
import { asCurl, asIpamctl, asTerraform } from "../copies";
import { useLoad } from "../load";
import { bits, parseBlock } from "../net/cidr";
import { go, Link, to } from "../router";
import { may } from "../session";
import { Gone } from "../ui/gone";
import { Badge, Card, Copy, Dialog, Empty, Facts, Heading, LabelList, Table, When } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";

const read = (project: string, claim: string) => ask(api.GET("/v1/projects/{project}/claims/{claim}", { params: { path: { project, claim } } }));

export function ClaimPage({ project, name }: { project: string; name: string }) {
  const claim = useLoad(`claim:${project}:${name}`, () => read(project, name), ["IPClaim"]);
  const [releasing, setReleasing] = useState(false);
  return (
    <>
      <Heading title={name} crumbs={[{ to: to.page(project, "claims"), text: "Claims" }]}>
        {claim.data && may("consumer", project) && <button type="button" class="danger" onClick={() => setReleasing(true)}>Release</button>}
      </Heading>
      <Shown of={claim} gone={<Gone project={project} kind="IPClaim" name={name} />}>{(found) => <Details claim={found} project={project} />}</Shown>
      {releasing && claim.data && <Release claim={claim.data} project={project} close={() => setReleasing(false)} />}
    </>
  );
}

function Details({ claim, project }: { claim: Claim; project: string }) {
  const { spec, status, metadata } = claim;
  const block = parseBlock(status.allocatedCIDR);
  const body = { metadata: { name: metadata.name, ...(metadata.labels ? { labels: metadata.labels } : {}) }, spec };
  return (
    <>
      <div class="summary">
        <div class="big">
          <span class="mono">{status.allocatedCIDR}</span>
          <Badge kind={status.phase === "Bound" ? "good" : "warn"}>{status.phase}</Badge>
        </div>
      </div>
      <div class="cards">
        <Card title="Details">
          <Facts
            facts={[
              [
                "Pool",
                <Link
                  to={to.pool(
                    status.poolRef.project,
                    status.poolRef.name,
                    block && block.length < bits(block.family) ? `?at=${encodeURIComponent(status.allocatedCIDR)}` : "",
                  )}>{`${status.poolRef.project}/${status.poolRef.name}`}</Link>,
              ],
              ["Class", status.className && `${status.classProject}/${status.className}`],
              ["When released", status.reclaimPolicy === "Retain" ? "The block is retained for this project" : "The block becomes free"],
              ["Owner", spec.ownerRef && [spec.ownerRef.kind, spec.ownerRef.name, spec.ownerRef.uid].filter(Boolean).join("/")],
              ["Labels", metadata.labels && <LabelList labels={metadata.labels} />],
              [
                "Claimed",
                <>
                  <When at={metadata.createdAt} />
                  {metadata.createdBy && ` by ${metadata.createdBy}`}
                </>,
              ],
              ["Changed", metadata.updatedAt !== metadata.createdAt && <When at={metadata.updatedAt} />],
              ["History", block && <Link to={to.address(project, status.allocatedCIDR.split("/")[0]!)}>Holders of this address</Link>],
            ]}
          />
        </Card>
        <Card title="Used by">
          <Consumers claim={claim} project={project} />
        </Card>
        <Card title="The same for other tools" wide>
          <Copy label="curl" text={asCurl(project, body)} />
          <Copy label="ipamctl" text={asIpamctl(project, body)} />
          <Copy label="Terraform" text={asTerraform(project, body)} />
        </Card>
      </div>
    </>
  );
}

function Consumers({ claim, project }: { claim: Claim; project: string }) {
  const name = claim.metadata.name;
  const consumers = useLoad(`consumers:${project}:${name}`, () => ask(api.GET("/v1/projects/{project}/claims/{claim}/consumers", {
    params: { path: { project, claim: name }, query: { limit: 256 } },
  })), ["IPConsumer", "IPClaim"]);
  return (
    <Shown of={consumers} gone={<Empty>The claim is gone.</Empty>}>
      {({ items, nextCursor }) =>
        items.length === 0 ? (
          <Empty>No consumer is attached. The project keeps the block until a user releases the claim.</Empty>
        ) : (
          <>
          {nextCursor && <p class="note">The first {items.length}; there are more.</p>}
          <Table label="Consumers" head={["Consumer", "Realm", "Since"]}>
            {items.map((item) => (
              <tr key={item.realm + item.uid}>
                <td class="mono">{item.uid}</td>
                <td>{item.realm}</td>
                <td>
                  <When at={item.attachedAt} />
                </td>
              </tr>
            ))}
          </Table>
          </>
        )
      }
    </Shown>
  );
}

function Release({ claim, project, close }: { claim: Claim; project: string; close: () => void }) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const release = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const params = { path: { project, claim: claim.metadata.name }, header: asSeen(claim) };
      await ensure(ask(api.DELETE("/v1/projects/{project}/claims/{claim}", { params })), () => goneNow(read(project, claim.metadata.name)));
      go(to.page(project, "claims"));
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Release ${claim.metadata.name}?`} close={close}>
      <p>{claim.status.reclaimPolicy === "Retain" ? "The block is retained: it stays with this project until its allocation is deleted."
        : "Its block becomes free, immediately or after the pool's cool-down, and another claim can get it."}</p>
      <p class="mono strong">{claim.status.allocatedCIDR}</p>
      {error !== undefined && <Trouble error={error} />}
      <div class="actions">
        <button type="button" class="danger" disabled={busy} onClick={() => void release()}>Release {claim.status.allocatedCIDR}</button>
        <button type="button" autofocus onClick={close}>Keep it</button>
      </div>
    </Dialog>
  );
}
