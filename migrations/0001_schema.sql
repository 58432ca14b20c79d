-- +goose NO TRANSACTION
-- +goose Up
-- +goose StatementBegin

-- projects: the tenants. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
-- projects_name_key serves every request: the path names the project.
-- class_epoch is another value after every change of a project's classes, or of a pool that backs one: whoever remembers what it has read
-- of them compares it with what the project has now. NULL: nothing has changed yet.
CREATE TABLE IF NOT EXISTS projects (
    id           UUID        NOT NULL,
    name         TEXT        NOT NULL,
    display_name TEXT        NOT NULL,
    description  TEXT        NOT NULL,
    class_epoch  UUID,
    labels       JSONB       NOT NULL,
    annotations  JSONB       NOT NULL,
    generation   INT8        NOT NULL,
    revision     UUID        NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    created_by   TEXT        NOT NULL,
    CONSTRAINT projects_pkey PRIMARY KEY (id),
    CONSTRAINT projects_name_key UNIQUE (name)
);

-- members: the role of a subject in a project. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
-- members_subject_key serves authentication: all roles of one subject in one read.
CREATE TABLE IF NOT EXISTS members (
    id         UUID        NOT NULL,
    project_id UUID        NOT NULL,
    subject    TEXT        NOT NULL,
    role       TEXT        NOT NULL,
    generation INT8        NOT NULL,
    revision   UUID        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    created_by TEXT        NOT NULL,
    CONSTRAINT members_pkey PRIMARY KEY (project_id, subject),
    CONSTRAINT members_subject_key UNIQUE (subject, project_id),
    CONSTRAINT members_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT members_role_check CHECK (role IN ('viewer', 'consumer', 'provider', 'admin'))
);

-- api_keys: secrets that stand for a role in a project; of a secret only its SHA-256 is kept. Read everywhere, rarely
-- written (GLOBAL on a multi-region cluster): when a key was last used is written for many keys at once, once a minute.
-- api_keys_pkey serves authentication: the id is part of the token.
CREATE TABLE IF NOT EXISTS api_keys (
    id           UUID        NOT NULL,
    project_id   UUID        NOT NULL,
    name         TEXT        NOT NULL,
    hash         BYTEA       NOT NULL,
    role         TEXT        NOT NULL,
    description  TEXT        NOT NULL,
    expires_at   TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ,
    labels       JSONB       NOT NULL,
    annotations  JSONB       NOT NULL,
    generation   INT8        NOT NULL,
    revision     UUID        NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    created_by   TEXT        NOT NULL,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_name_key UNIQUE (project_id, name),
    CONSTRAINT api_keys_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT api_keys_role_check CHECK (role IN ('viewer', 'consumer', 'provider', 'admin'))
);

-- sessions: who is signed in to the console, by an API key (key_id), or by a token of an issuer, whose roles were given under the rules of that id; hash is the
-- SHA-256 of what the browser sends. Read everywhere, rarely written (GLOBAL on a multi-region cluster): when a session was last used is written for many
-- sessions at once, once a minute. A session does not refer to its key: whoever revokes a key has nothing else to delete, and the session is worth nothing then.
CREATE TABLE IF NOT EXISTS sessions (
    hash       BYTEA       NOT NULL,
    holder     TEXT        NOT NULL,
    key_id     UUID,
    issuer     TEXT        NOT NULL,
    rules      UUID        NOT NULL,
    roles      JSONB       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    used_at    TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (hash)
);
-- serves: ending the oldest sessions of who has too many (session_trim)
CREATE INDEX IF NOT EXISTS sessions_holder_idx ON sessions (holder, created_at);
-- serves: batched deletion of expired sessions (session_expire)
CREATE INDEX IF NOT EXISTS sessions_expires_idx ON sessions (expires_at);

-- grants: which consumers may use a pool or a space of another project. subject_id is the pool or the space; consumer is
-- a project's name, or * for all. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
-- grants_consumer_key serves "what was granted to this project", for selectors.
CREATE TABLE IF NOT EXISTS grants (
    id         UUID        NOT NULL,
    kind       TEXT        NOT NULL,
    subject_id UUID        NOT NULL,
    consumer   TEXT        NOT NULL,
    generation INT8        NOT NULL,
    revision   UUID        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    created_by TEXT        NOT NULL,
    CONSTRAINT grants_pkey PRIMARY KEY (subject_id, consumer),
    CONSTRAINT grants_consumer_key UNIQUE (consumer, kind, subject_id),
    CONSTRAINT grants_kind_check CHECK (kind IN ('pool', 'space'))
);

-- quotas: what a project may hold. An empty pool_name or class_name, or af 0, does not narrow what is counted; a NULL limit does not
-- bound. Pools and classes are named, not referred to: a name stands for whichever pool has it. overdrawn: a limit is below what is
-- used, so that no shard's spare may be trusted alone. owner: who has set the quota, the platform or the project itself; what the platform
-- has set, the project cannot change. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS quotas (
    id              UUID        NOT NULL,
    project_id      UUID        NOT NULL,
    name            TEXT        NOT NULL,
    owner           TEXT        NOT NULL,
    pool_project    TEXT        NOT NULL,
    pool_name       TEXT        NOT NULL,
    class_project   TEXT        NOT NULL,
    class_name      TEXT        NOT NULL,
    af              INT2        NOT NULL,
    limit_addresses DECIMAL,
    limit_claims    INT8,
    limit_pools     INT8,
    overdrawn       BOOL        NOT NULL,
    description     TEXT        NOT NULL,
    generation      INT8        NOT NULL,
    revision        UUID        NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    created_by      TEXT        NOT NULL,
    CONSTRAINT quotas_pkey PRIMARY KEY (project_id, name),
    CONSTRAINT quotas_id_key UNIQUE (id),
    CONSTRAINT quotas_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT quotas_af_check CHECK (af IN (0, 4, 6))
);

-- quota_shards: the figures of a quota, in 16 rows, so that transactions on different pools seldom meet in one. For each
-- bounded measure the spare of all shards adds up to the limit less what is used; it is 0 for what is not bounded.
-- Pages are filled by half, so that PostgreSQL can keep the new version of a row beside the old one: then no index entry is
-- made, and transactions on other shards of the same page do not conflict.
CREATE TABLE IF NOT EXISTS quota_shards (
    region          crdb_internal_region NOT NULL,
    quota_id        UUID    NOT NULL,
    shard           INT2    NOT NULL,
    used_addresses  DECIMAL NOT NULL,
    used_claims     INT8    NOT NULL,
    used_pools      INT8    NOT NULL,
    spare_addresses DECIMAL NOT NULL,
    spare_claims    INT8    NOT NULL,
    spare_pools     INT8    NOT NULL,
    CONSTRAINT quota_shards_pkey PRIMARY KEY (region, quota_id, shard)
) WITH (fillfactor = 50);

-- spaces: routing domains. container_v4 and container_v6 are the keys under which free_blocks and holds have the
-- two families; root pools are carved from them.
CREATE TABLE IF NOT EXISTS spaces (
    id           UUID        NOT NULL,
    project_id   UUID        NOT NULL,
    name         TEXT        NOT NULL,
    container_v4 UUID        NOT NULL,
    container_v6 UUID        NOT NULL,
    region       crdb_internal_region NOT NULL,
    description  TEXT        NOT NULL,
    labels       JSONB       NOT NULL,
    annotations  JSONB       NOT NULL,
    generation   INT8        NOT NULL,
    revision     UUID        NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    created_by   TEXT        NOT NULL,
    CONSTRAINT spaces_pkey PRIMARY KEY (id),
    CONSTRAINT spaces_name_key UNIQUE (project_id, name),
    CONSTRAINT spaces_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id)
);

-- classes: the policies for handing out address space. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
-- spec is the class as it was written, whole; af, visibility and is_default repeat what statements search by.
-- classes_name_key serves every claim that names a class.
CREATE TABLE IF NOT EXISTS classes (
    id          UUID        NOT NULL,
    project_id  UUID        NOT NULL,
    name        TEXT        NOT NULL,
    af          INT2        NOT NULL,
    visibility  TEXT        NOT NULL,
    is_default  BOOL        NOT NULL,
    spec        JSONB       NOT NULL,
    labels      JSONB       NOT NULL,
    annotations JSONB       NOT NULL,
    generation  INT8        NOT NULL,
    revision    UUID        NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    created_by  TEXT        NOT NULL,
    CONSTRAINT classes_pkey PRIMARY KEY (id),
    CONSTRAINT classes_name_key UNIQUE (project_id, name),
    CONSTRAINT classes_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT classes_af_check CHECK (af IN (4, 6)),
    CONSTRAINT classes_visibility_check CHECK (visibility IN ('platform', 'consumer', 'shared'))
);
-- serves: at most one default class for each family in a project, and finding it for claims that name nothing (class_find_default)
CREATE UNIQUE INDEX IF NOT EXISTS classes_default_key ON classes (project_id, af) WHERE is_default;

-- pools: blocks from which others are carved. The block itself (region, container_id, base, plen) never changes.
-- container_id is what the pool was carved from: its parent pool's id, or a container of its space.
-- parent_* and space_* repeat names, which never change, so that reading a pool needs no join.
-- regions: where a pool is served, its home (region) among them, in the caller's order; empty: at home alone. Of such a pool, and of no other,
-- pool_regions and stocks have a row for each of its regions, and region_blocks one for each block that its home has lent to another.
-- drain: nothing more is carved from the pool, which is kept or deleted when it has become empty; NULL: it is not drained.
-- classes lists what the pool backs, in the caller's order: an id with the names that it had, which never change; pool_classes
-- finds the pools of a class. A pool that was carved for a scope has it in scope, and what finds it by that in scope_class_id,
-- scope_project_id (the project that it serves) and scope_key. A class is not deleted while such a pool exists.
CREATE TABLE IF NOT EXISTS pools (
    id                   UUID        NOT NULL,
    project_id           UUID        NOT NULL,
    name                 TEXT        NOT NULL,
    region               crdb_internal_region NOT NULL,
    regions              JSONB       NOT NULL,
    space_id             UUID        NOT NULL,
    space_project        TEXT        NOT NULL,
    space_name           TEXT        NOT NULL,
    container_id         UUID        NOT NULL,
    container_project_id UUID        NOT NULL,
    parent_project       TEXT        NOT NULL,
    parent_name          TEXT        NOT NULL,
    af                   INT2        NOT NULL,
    base                 BYTEA       NOT NULL,
    plen                 INT2        NOT NULL,
    by_cidr              BOOL        NOT NULL,
    visibility           TEXT        NOT NULL,
    strategy             TEXT        NOT NULL,
    min_plen             INT2,
    max_plen             INT2,
    default_plen         INT2,
    reservations         JSONB       NOT NULL,
    classes              JSONB       NOT NULL,
    reuse_after_seconds  INT8,
    drain                TEXT,
    scope                JSONB,
    scope_class_id       UUID,
    scope_project_id     UUID,
    scope_key            TEXT,
    empty_since          TIMESTAMPTZ,
    description          TEXT        NOT NULL,
    labels               JSONB       NOT NULL,
    annotations          JSONB       NOT NULL,
    generation           INT8        NOT NULL,
    revision             UUID        NOT NULL,
    created_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL,
    created_by           TEXT        NOT NULL,
    CONSTRAINT pools_pkey PRIMARY KEY (id),
    CONSTRAINT pools_name_key UNIQUE (project_id, name),
    CONSTRAINT pools_block_key UNIQUE (container_id, base),
    CONSTRAINT pools_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT pools_space_fkey FOREIGN KEY (space_id) REFERENCES spaces (id),
    CONSTRAINT pools_scope_class_fkey FOREIGN KEY (scope_class_id) REFERENCES classes (id),
    CONSTRAINT pools_af_check CHECK (af IN (4, 6)),
    CONSTRAINT pools_visibility_check CHECK (visibility IN ('platform', 'consumer', 'shared')),
    CONSTRAINT pools_drain_check CHECK (drain IN ('Keep', 'Delete')),
    CONSTRAINT pools_strategy_check CHECK (strategy IN ('FirstFit', 'BestFit', 'Random', 'Sparse'))
);
-- serves: which pools of a project have one of some blocks (pool_list_covering), for the history of an address. The columns are in
-- this order so that no other look-up of pools takes this index for its own on tables that nobody has analysed.
CREATE INDEX IF NOT EXISTS pools_address_idx ON pools (plen, base, project_id);
-- serves: one pool for each scope of a class, and finding it (scoped_pool_get); how many a class has (class_use, scoped_pool_count,
-- scoped_pool_count_in), and that it is not deleted before them. Of the indexes of scoped pools each has a condition of its own, so
-- that no look-up takes another's on tables that nobody has analysed.
CREATE UNIQUE INDEX IF NOT EXISTS pools_scope_key ON pools (scope_class_id, scope_project_id, scope_key) WHERE scope_class_id IS NOT NULL;
-- serves: how many pools were carved for a project's scopes, for its quotas (usage_pools)
CREATE INDEX IF NOT EXISTS pools_scope_project_idx ON pools (scope_project_id) WHERE scope IS NOT NULL;
-- serves: that a space is not deleted before its pools (space_delete)
CREATE INDEX IF NOT EXISTS pools_space_idx ON pools (space_id);
-- serves: going through all pools that were carved for scopes, a page at a time (scoped_pool_list)
CREATE INDEX IF NOT EXISTS pools_scoped_idx ON pools (id) WHERE scope_key IS NOT NULL;

-- serves: pools that are to be deleted when they have become empty (drained_pool_list). Few rows: only what is drained.
CREATE INDEX IF NOT EXISTS pools_drained_idx ON pools (region, drain, id) WHERE drain IS NOT NULL;

-- serves: a page of the pools that were carved from a space (pool_list_roots). A row for each of those.
CREATE INDEX IF NOT EXISTS pools_roots_idx ON pools (project_id, name) WHERE parent_name = '';

-- pool_classes: which pools back a class; pools.classes says the same from the other side. The pools of one project that back
-- one class are one range of the key, in order of their names.
CREATE TABLE IF NOT EXISTS pool_classes (
    class_id   UUID NOT NULL,
    project_id UUID NOT NULL,
    pool_name  TEXT NOT NULL,
    pool_id    UUID NOT NULL,
    CONSTRAINT pool_classes_pkey PRIMARY KEY (class_id, project_id, pool_name, pool_id),
    CONSTRAINT pool_classes_class_fkey FOREIGN KEY (class_id) REFERENCES classes (id),
    CONSTRAINT pool_classes_pool_fkey FOREIGN KEY (pool_id) REFERENCES pools (id)
);
-- serves: giving up what a pool backs, when it lists other classes or is deleted (pool_class_delete)
CREATE INDEX IF NOT EXISTS pool_classes_pool_idx ON pool_classes (pool_id);

-- free_blocks: every free block is one row; together with holds they tile their container.
-- host_bits is the size of the block: 2^host_bits addresses (32 - prefix length for IPv4, 128 - prefix length for IPv6).
-- All columns are the key and there is no other index: one index to scan and to delete from. Key order (host_bits, base)
-- makes "the tightest block that fits, the lowest of those first" one forward scan of it.
CREATE TABLE IF NOT EXISTS free_blocks (
    region       crdb_internal_region NOT NULL,
    container_id UUID  NOT NULL,
    host_bits    INT2  NOT NULL,
    base         BYTEA NOT NULL,
    CONSTRAINT free_blocks_pkey PRIMARY KEY (region, container_id, host_bits, base)
);

-- fences: one row for each container, which every transaction moves that changes the container's free blocks, what is cooling down in it, or what its
-- claims are decided by: mark is another value after each. stock counts the free blocks of the container, and those that are cooling down, by length
-- (internal/crdb/rows/stock.go), so that nobody counts rows to say how much is left. It lives where the rows do and goes with them into every backup.
-- Pages are filled by half, as those of quota_shards.
CREATE TABLE IF NOT EXISTS fences (
    region crdb_internal_region NOT NULL,
    id     UUID  NOT NULL,
    mark   UUID  NOT NULL,
    stock  BYTEA NOT NULL,
    CONSTRAINT fences_pkey PRIMARY KEY (region, id)
) WITH (fillfactor = 50);

-- holds: every held block is one row: claims with their allocations, child pools, reservations, root pools' holds on their space.
-- project_id is the project that owns the container; it depends on container_id alone, and comes first so that
-- the key also serves "all allocations of a project" without another index.
-- id is the allocation's. name and claim_id are a living claim's: a block that is retained or cools down has none any more, and neither has one
-- that no claim holds. revision is the claim's as long as it lives, and the allocation's otherwise: another one after every change of the row.
-- since is when the present holder got the block in the present phase; what was before is in history.
-- class_id: the class that served the claim, which exists as long as the claim does, except where the claim took over a block that had been
-- retained. cool_until: until when a released block is kept from everybody.
-- owner stands for the ownerRef of a living claim that has one: a part of a hash of its text, for look-ups alone.
-- doc is a JSON text with the rest, under short keys and without what the columns say (internal/crdb/rows/holds.go). No statement of a request looks
-- inside but the counting of what a project holds, when a quota is made.
-- holds_id_key serves GET, DELETE and re-binding by name (an allocation's name is its id).
CREATE TABLE IF NOT EXISTS holds (
    region            crdb_internal_region NOT NULL,
    project_id        UUID        NOT NULL,
    container_id      UUID        NOT NULL,
    base              BYTEA       NOT NULL,
    plen              INT2        NOT NULL,
    id                UUID        NOT NULL,
    purpose           TEXT        NOT NULL,
    phase             TEXT        NOT NULL,
    holder_project_id UUID        NOT NULL,
    name              TEXT,
    claim_id          UUID,
    revision          UUID        NOT NULL,
    class_id          UUID,
    since             TIMESTAMPTZ NOT NULL,
    cool_until        TIMESTAMPTZ,
    doc               TEXT        NOT NULL,
    owner             UUID,
    CONSTRAINT holds_pkey PRIMARY KEY (region, project_id, container_id, base),
    CONSTRAINT holds_id_key UNIQUE (region, id),
    CONSTRAINT holds_purpose_check CHECK (purpose IN ('Claim', 'ChildPool', 'Reservation', 'RootPool')),
    CONSTRAINT holds_phases_check CHECK (phase IN ('Bound', 'Retained', 'CoolingDown') AND (phase = 'CoolingDown') = (cool_until IS NOT NULL)),
    CONSTRAINT holds_claim_check
        CHECK ((purpose = 'Claim' AND phase = 'Bound') = (name IS NOT NULL) AND (name IS NULL) = (claim_id IS NULL)),
    CONSTRAINT holds_owner_check CHECK (owner IS NULL OR name IS NOT NULL)
);
-- serves: claims by name (claim_get, claim_list), and that no two living claims of a project have one
CREATE UNIQUE INDEX IF NOT EXISTS holds_name_key ON holds (region, holder_project_id, name) WHERE name IS NOT NULL;
-- serves: claims by their owner, by name (claim_list_owned, claim_list_owned_everywhere). Only claims with an ownerRef are in it.
CREATE INDEX IF NOT EXISTS holds_owner_idx ON holds (region, holder_project_id, owner, name) WHERE owner IS NOT NULL;
-- serves: how many claims a class has served, before it is deleted (class_use)
CREATE INDEX IF NOT EXISTS holds_class_idx ON holds (region, class_id) WHERE class_id IS NOT NULL AND name IS NOT NULL;
-- serves: what a project holds without a claim, for its quotas (usage_retained). Few rows: only what was retained.
CREATE INDEX IF NOT EXISTS holds_retained_idx ON holds (region, holder_project_id) WHERE phase = 'Retained';
-- serves: what a project holds at an address in the pools of others (held_elsewhere), without a look at those pools. Claims of own pools are not in it.
CREATE INDEX IF NOT EXISTS holds_borrowed_idx ON holds (region, holder_project_id, base, plen)
WHERE purpose = 'Claim' AND phase <> 'CoolingDown' AND holder_project_id <> project_id;
-- serves: what has cooled down, the longest past first (cooldown_over). Few rows: only what is cooling down.
CREATE INDEX IF NOT EXISTS holds_cooled_idx ON holds (region, cool_until) WHERE phase = 'CoolingDown';
-- serves: when the first block of a size will have cooled down in a container (cooldown_next)
CREATE INDEX IF NOT EXISTS holds_cooling_idx ON holds (region, container_id, plen, cool_until) WHERE phase = 'CoolingDown';

-- consumers: what uses claims, by the UID that its realm knows it by. It is found like the name of a claim: in all regions of the project. ended_at: it has
-- ended, and the row is a tombstone, which keeps it from coming back until it is too old (consumer_forget). draining: it has ended and may still be
-- attached. Every write gives the row another revision, a renewal too: whoever ends it, renews it or attaches it meets the others in the row.
CREATE TABLE IF NOT EXISTS consumers (
    region      crdb_internal_region NOT NULL,
    project_id  UUID        NOT NULL,
    realm       TEXT        NOT NULL,
    uid         TEXT        NOT NULL,
    id          UUID        NOT NULL,
    kind        TEXT        NOT NULL,
    name        TEXT        NOT NULL,
    ttl_seconds INT8        NOT NULL,
    renewed_at  TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ,
    ended_at    TIMESTAMPTZ,
    reason      TEXT        NOT NULL,
    draining    BOOL        NOT NULL,
    generation  INT8        NOT NULL,
    revision    UUID        NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    created_by  TEXT        NOT NULL,
    CONSTRAINT consumers_pkey PRIMARY KEY (region, project_id, realm, uid),
    CONSTRAINT consumers_ended_check CHECK ((ended_at IS NULL) = (reason = '') AND (ended_at IS NOT NULL OR NOT draining))
);
-- serves: what has expired, of all projects (consumer_due), and of one realm (consumer_due_list, realm_due, realm_expired). Of these indexes each has a
-- condition of its own, in other words for the same, so that no look-up takes another's on tables that nobody has analysed.
CREATE INDEX IF NOT EXISTS consumers_expiry_idx ON consumers (region, expires_at) WHERE ended_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS consumers_realm_expiry_idx ON consumers (region, project_id, realm, expires_at) WHERE reason = '' AND expires_at IS NOT NULL;
-- serves: how many of a realm live (realm_count)
CREATE INDEX IF NOT EXISTS consumers_live_idx ON consumers (region, project_id, realm) WHERE ended_at IS NULL AND NOT draining;
-- serves: how many of a realm were lost lately (realm_count). Few rows: those that expired.
CREATE INDEX IF NOT EXISTS consumers_lost_idx ON consumers (region, project_id, realm, ended_at) WHERE reason = 'Expired';
-- serves: what has ended and may still be attached (consumer_draining). Few rows.
CREATE INDEX IF NOT EXISTS consumers_draining_idx ON consumers (region, ended_at) WHERE draining;
-- serves: tombstones that are too old (consumer_forget)
CREATE INDEX IF NOT EXISTS consumers_ended_idx ON consumers (region, ended_at) WHERE ended_at IS NOT NULL AND NOT draining;

-- attachments: which consumers use a claim; in the region of the claim. How many there are is in the claim's row, which every attachment and detachment
-- writes anew: attaching, detaching and releasing meet there. The claim's name is here so that the claim is found by it.
CREATE TABLE IF NOT EXISTS attachments (
    region      crdb_internal_region NOT NULL,
    project_id  UUID        NOT NULL,
    claim_id    UUID        NOT NULL,
    claim_name  TEXT        NOT NULL,
    realm       TEXT        NOT NULL,
    uid         TEXT        NOT NULL,
    attached_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT attachments_pkey PRIMARY KEY (region, project_id, claim_id, realm, uid)
);
-- serves: the claims of a consumer, by name (attachment_list_of, claim_list_of_consumer). All rows; the condition keeps other look-ups from taking this index.
CREATE INDEX IF NOT EXISTS attachments_consumer_idx ON attachments (region, project_id, realm, uid, claim_name) WHERE claim_name <> '';

-- realms: realms of which many consumers have expired at once in a region, and until when it was confirmed that they are gone. Empty but for such realms.
CREATE TABLE IF NOT EXISTS realms (
    region          crdb_internal_region NOT NULL,
    project_id      UUID        NOT NULL,
    name            TEXT        NOT NULL,
    held_since      TIMESTAMPTZ,
    confirmed_until TIMESTAMPTZ,
    CONSTRAINT realms_pkey PRIMARY KEY (region, project_id, name)
);

-- webhooks: where what changes in a project is sent; in the region whose servers send it. Names are unique in the project, of all regions: who makes one has
-- looked. spec and progress are JSON texts of the server; what statements look at is in columns. due_at: when a server is to look at it, and as long as a
-- server has it (lease), until when; NULL: it is paused or stopped. epoch is another one after every change of the row but the renewal of a lease, revision after
-- those of callers.
CREATE TABLE IF NOT EXISTS webhooks (
    region      crdb_internal_region NOT NULL,
    project_id  UUID        NOT NULL,
    name        TEXT        NOT NULL,
    id          UUID        NOT NULL,
    spec        JSONB       NOT NULL,
    progress    JSONB       NOT NULL,
    stopped     TEXT        NOT NULL,
    due_at      TIMESTAMPTZ,
    lease       UUID,
    epoch       UUID        NOT NULL,
    labels      JSONB       NOT NULL,
    annotations JSONB       NOT NULL,
    generation  INT8        NOT NULL,
    revision    UUID        NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    created_by  TEXT        NOT NULL,
    CONSTRAINT webhooks_pkey PRIMARY KEY (region, project_id, name)
);
-- serves: webhooks that a server is to look at, the longest past first (webhook_due)
CREATE INDEX IF NOT EXISTS webhooks_due_idx ON webhooks (region, due_at) WHERE due_at IS NOT NULL;
-- serves: those that a server has (webhook_keep)
CREATE INDEX IF NOT EXISTS webhooks_lease_idx ON webhooks (region, lease) WHERE lease IS NOT NULL;

-- deliveries: what is being sent to webhooks, one for each at most, written before it is sent, so that each try is the same; and what was given up (dead_at).
-- message is the body as it is sent, cursor the place in the feed behind it. retry: it is to be sent once more although it was given up.
CREATE TABLE IF NOT EXISTS deliveries (
    region     crdb_internal_region NOT NULL,
    project_id UUID        NOT NULL,
    webhook_id UUID        NOT NULL,
    id         UUID        NOT NULL,
    cursor     TEXT        NOT NULL,
    message    BYTEA       NOT NULL,
    attempts   INT8        NOT NULL,
    began_at   TIMESTAMPTZ NOT NULL,
    error      JSONB,
    dead_at    TIMESTAMPTZ,
    retry      BOOL        NOT NULL,
    CONSTRAINT deliveries_pkey PRIMARY KEY (region, project_id, webhook_id, id)
);
-- serves: the delivery that has been tried for longest (delivery_oldest)
CREATE INDEX IF NOT EXISTS deliveries_waiting_idx ON deliveries (region, began_at) WHERE dead_at IS NULL AND NOT retry;
-- serves: what was given up long ago (delivery_expire). Few rows. Each was tried; that the condition says so keeps other look-ups from taking this index.
CREATE INDEX IF NOT EXISTS deliveries_dead_idx ON deliveries (region, dead_at) WHERE dead_at IS NOT NULL AND attempts > 0;

-- alert_rules: when pools and quotas of a project have alerts; in the region whose servers look. Names are unique in the project, of all regions: who makes one
-- has looked. due_at: when a server is to look next; it goes on behind after_name, or at the beginning ('') when it had looked at everything at looked_at. epoch is
-- another one after every change of the row, revision after those of callers.
CREATE TABLE IF NOT EXISTS alert_rules (
    region      crdb_internal_region NOT NULL,
    project_id  UUID        NOT NULL,
    name        TEXT        NOT NULL,
    id          UUID        NOT NULL,
    spec        JSONB       NOT NULL,
    due_at      TIMESTAMPTZ NOT NULL,
    after_name  TEXT        NOT NULL,
    looked_at   TIMESTAMPTZ,
    epoch       UUID        NOT NULL,
    labels      JSONB       NOT NULL,
    annotations JSONB       NOT NULL,
    generation  INT8        NOT NULL,
    revision    UUID        NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    created_by  TEXT        NOT NULL,
    CONSTRAINT alert_rules_pkey PRIMARY KEY (region, project_id, name)
);
-- serves: alert rules that a server is to look at, the longest past first (alert_rule_due)
CREATE INDEX IF NOT EXISTS alert_rules_due_idx ON alert_rules (region, due_at) WHERE due_at IS NOT NULL;

-- alerts: that so much of a pool or a quota is used as a rule says, or that a pool will be full as soon, since a moment at which so much was used, in hundredths
-- of a percent (began), and the pool was to be full at another (runs_out_at). A row begins and ends with the event of the trail that tells of it.
CREATE TABLE IF NOT EXISTS alerts (
    region     crdb_internal_region NOT NULL,
    project_id UUID        NOT NULL,
    rule       TEXT        NOT NULL,
    subject    TEXT        NOT NULL,
    rule_id    UUID        NOT NULL,
    subject_id UUID        NOT NULL,
    about      TEXT        NOT NULL,
    since      TIMESTAMPTZ NOT NULL,
    began      INT8        NOT NULL,
    runs_out_at TIMESTAMPTZ,
    CONSTRAINT alerts_pkey PRIMARY KEY (region, project_id, rule, subject)
);

-- utilization: how much of pools was used, in the region that a pool is at home in. A row is what was recorded of a pool since it begins: in a day, or, of days
-- that are long past, the last and the highest record of each day of a month (monthly). latest is when the last of it was; points is all of it, in order of
-- time (internal/crdb/rows/points.go). Times are UTC. No row is older than it says in docs/operations.md, and a pool that is deleted takes its rows with it.
CREATE TABLE IF NOT EXISTS utilization (
    region  crdb_internal_region NOT NULL,
    pool_id UUID        NOT NULL,
    monthly BOOL        NOT NULL,
    begins  TIMESTAMPTZ NOT NULL,
    latest  TIMESTAMPTZ NOT NULL,
    points  BYTEA       NOT NULL,
    CONSTRAINT utilization_pkey PRIMARY KEY (region, pool_id, monthly, begins)
);
-- serves: what is kept no longer, or not in full (utilization_take, utilization_expire). latest always is; that the condition says so keeps other look-ups from
-- taking this index.
CREATE INDEX IF NOT EXISTS utilization_begins_idx ON utilization (region, monthly, begins) WHERE latest IS NOT NULL;

-- idempotency_keys: the answer to a POST, stored in the transaction that had its effect.
-- key and fingerprint are the first half of a SHA-256: of the key, and of the operation and the request. answer is the use case's to read: of a claim
-- what the server added to the request (internal/alloc/claims/answer.go), of anything else the domain value as JSON.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    region      crdb_internal_region NOT NULL,
    project_id  UUID        NOT NULL,
    key         UUID        NOT NULL,
    fingerprint UUID        NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL,
    answer      BYTEA       NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (region, project_id, key)
);
-- serves: batched deletion of expired keys (answer_expire)
CREATE INDEX IF NOT EXISTS idempotency_keys_expires_idx ON idempotency_keys (region, expires_at);

-- audit_events: who changed what, or tried to without the right to. Rows are inserted, and deleted when they are too old;
-- no statement changes one. A row is what one transaction recorded in a project's trail, or a part of it, of one time: id is that of its
-- first event, a UUID of version 7, so that the key is in order of time, and the others have the ids that follow. events is what the server
-- made of them (internal/crdb/rows/events.go), mostly small enough for PostgreSQL to keep it in the row.
CREATE TABLE IF NOT EXISTS audit_events (
    region     crdb_internal_region NOT NULL,
    project_id UUID        NOT NULL,
    id         UUID        NOT NULL,
    count      INT2        NOT NULL,
    events     BYTEA       NOT NULL,
    CONSTRAINT audit_events_pkey PRIMARY KEY (region, project_id, id)
);

-- history: for how long blocks were held for whom, one row when a hold ends. What is held now is in holds.
-- A pool's name stands for the pool: two pools never have one name at the same time.
-- The key serves "who held this block at that time": the first row of a block that ended after it.
CREATE TABLE IF NOT EXISTS history (
    region         crdb_internal_region NOT NULL,
    project_id     UUID        NOT NULL,
    base           BYTEA       NOT NULL,
    plen           INT2        NOT NULL,
    until          TIMESTAMPTZ NOT NULL,
    id             UUID        NOT NULL,
    since          TIMESTAMPTZ NOT NULL,
    pool_project   TEXT        NOT NULL,
    pool_name      TEXT        NOT NULL,
    purpose        TEXT        NOT NULL,
    phase          TEXT        NOT NULL,
    allocation_id  UUID        NOT NULL,
    holder_project TEXT        NOT NULL,
    holder_name    TEXT        NOT NULL,
    CONSTRAINT history_pkey PRIMARY KEY (region, project_id, base, plen, until, id)
);
-- serves: deleting holds that ended long ago, project by project, the oldest first (history_expire)
CREATE INDEX IF NOT EXISTS history_until_idx ON history (region, project_id, until);

-- removals: projects that are gone, whose trail and history are being deleted in small transactions. Empty but for moments.
CREATE TABLE IF NOT EXISTS removals (
    project_id UUID        NOT NULL,
    CONSTRAINT removals_pkey PRIMARY KEY (project_id)
);

-- regions: the database's regions in the order in which they were added; the first is the primary one. Written by `ipamctl migrate`
-- alone, from its list of regions. Read everywhere (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS regions (
    name       crdb_internal_region NOT NULL,
    ordinal    INT2        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT regions_pkey PRIMARY KEY (name),
    CONSTRAINT regions_ordinal_key UNIQUE (ordinal)
);

-- pool_regions: a pool in each of the regions that it serves. epoch is another one after every loan and recall, and the one that stocks has beside the
-- region's own rows; they differ only when one of them was restored. loan_bits is the size of the last loan (2^loan_bits addresses;
-- -1: none yet), loaned_at when that was, and lasted_ms how long the loan before it had lasted. Read in every claim of such a pool, written when blocks
-- are lent (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS pool_regions (
    pool_id   UUID        NOT NULL,
    region    crdb_internal_region NOT NULL,
    epoch     UUID        NOT NULL,
    loan_bits INT2        NOT NULL,
    loaned_at TIMESTAMPTZ NOT NULL,
    lasted_ms INT8        NOT NULL,
    CONSTRAINT pool_regions_pkey PRIMARY KEY (pool_id, region),
    CONSTRAINT pool_regions_pool_fkey FOREIGN KEY (pool_id) REFERENCES pools (id)
);
-- serves: which pools are served in a region, for those who look after its stock (pool_list_serving)
CREATE INDEX IF NOT EXISTS pool_regions_region_idx ON pool_regions (region, pool_id);

-- region_blocks: the blocks of a pool that its home has lent to another region. With what is free and held at home they tile the pool; what is free and held
-- in a region tiles what it was lent. One row for one block: the same address cannot be lent twice (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS region_blocks (
    pool_id UUID        NOT NULL,
    base    BYTEA       NOT NULL,
    plen    INT2        NOT NULL,
    region  crdb_internal_region NOT NULL,
    lent_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT region_blocks_pkey PRIMARY KEY (pool_id, base),
    CONSTRAINT region_blocks_pool_fkey FOREIGN KEY (pool_id) REFERENCES pools (id)
);

-- stocks: the epoch of a pool's rows in a region, which lives where they do and goes with them into every backup and out of it.
CREATE TABLE IF NOT EXISTS stocks (
    region  crdb_internal_region NOT NULL,
    pool_id UUID NOT NULL,
    epoch   UUID NOT NULL,
    CONSTRAINT stocks_pkey PRIMARY KEY (region, pool_id)
);

-- project_regions: in which regions a project may have claims: where its names are looked for. A row is added by the project's first claim in a region,
-- and stays (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS project_regions (
    project_id UUID NOT NULL,
    region     crdb_internal_region NOT NULL,
    CONSTRAINT project_regions_pkey PRIMARY KEY (project_id, region)
);

-- feed: one row. secret is what cursors of the feed are sealed with: they are of no use after a restore, which deletes the row; a server that starts
-- makes it, and one that is asked what has changed makes it anew. Events of before kept_from may have been deleted; retention moves it before it deletes (GLOBAL on a multi-region
-- cluster).
CREATE TABLE IF NOT EXISTS feed (
    id        INT2        NOT NULL,
    secret    UUID        NOT NULL,
    kept_from TIMESTAMPTZ NOT NULL,
    CONSTRAINT feed_pkey PRIMARY KEY (id),
    CONSTRAINT feed_id_check CHECK (id = 1)
);

-- compatibility: one row that says which programs may work on this database: those that know at least the schema `minimum`. A migration that a program of
-- before it would break raises it. Read by every program when it starts, and again and again by servers (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS compatibility (
    id      INT2 NOT NULL,
    minimum INT8 NOT NULL,
    CONSTRAINT compatibility_pkey PRIMARY KEY (id),
    CONSTRAINT compatibility_id_check CHECK (id = 1)
);
INSERT INTO compatibility (id, minimum)
VALUES (1, 1)
ON CONFLICT (id) DO NOTHING;
-- +goose StatementEnd
