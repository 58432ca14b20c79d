package outcome

import (
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// constraints maps each named constraint in the migrations to the error that a caller gets for a violation. A test compares the map with the
// migrations.
var constraints = add(add(map[string]func() *ipam.Error{
	"projects_name_key": exists("A project of this name exists already."),
	"spaces_name_key":   exists("A space of this name exists already in the project."),
	"pools_name_key":    exists("A pool of this name exists already in the project."),
	"classes_name_key":  exists("A class of this name exists already in the project."),
	"api_keys_name_key": exists("An API key of this name exists already in the project."),

	"classes_default_key": func() *ipam.Error {
		return ipam.Errorf(ipam.CodeAlreadyExists, "The project has a default class for this family already.").At("/spec/isDefault", "is taken by another class of the family.")
	},

	"spaces_project_fkey": gone("The project was not found."),
	"pools_project_fkey":  gone("The project was not found."),
	"pools_space_fkey":    gone("The space was not found."),

	"alert_rules_pkey": exists("An alert rule of this name exists already in the project."),
	"webhooks_pkey":    exists("A webhook of this name exists already in the project."),
}, meanwhile, slices.Concat(outdatedKeys, outdatedReferences, []string{"holds_name_key", "idempotency_keys_pkey"})...), bug, bugs...)

// A transaction that was planned from old data can violate these unique and foreign keys: see outOfDate. If a region is newer than a quota, the first
// claim there creates the quota's shard, so quota_shards_pkey is one of them.
var (
	outdatedKeys       = []string{"members_pkey", "members_subject_key", "grants_pkey", "grants_consumer_key", "quotas_pkey", "quota_shards_pkey", "pools_scope_key"}
	outdatedReferences = []string{"members_project_fkey", "api_keys_project_fkey", "quotas_project_fkey", "classes_project_fkey", "pool_classes_class_fkey", "pools_scope_class_fkey"}
)

// bugs lists the constraints that a caller cannot violate. For example, ids are random, and a transaction deletes a block's free rows before it takes
// the block.
var bugs = []string{
	"projects_pkey", "spaces_pkey", "pools_pkey", "pools_block_key", "free_blocks_pkey", "holds_pkey", "holds_id_key", "pools_af_check",
	"pools_visibility_check", "pools_strategy_check", "pools_drain_check", "holds_purpose_check", "holds_phases_check", "holds_claim_check",
	"holds_owner_check", "members_role_check", "api_keys_pkey", "sessions_pkey", "api_keys_role_check", "grants_kind_check", "quotas_id_key",
	"quotas_af_check", "classes_pkey", "classes_af_check", "classes_visibility_check", "pool_classes_pkey", "pool_classes_pool_fkey",
	"audit_events_pkey", "history_pkey", "removals_pkey", "regions_pkey", "regions_ordinal_key", "pool_regions_pkey", "pool_regions_pool_fkey",
	"region_blocks_pkey", "region_blocks_pool_fkey", "consumers_pkey", "consumers_ended_check", "attachments_pkey", "realms_pkey", "alerts_pkey",
	"utilization_pkey", "deliveries_pkey", "stocks_pkey", "fences_pkey", "compatibility_pkey", "compatibility_id_check", "feed_pkey", "feed_id_check",
	"project_regions_pkey",
}

// add adds constraints with the same error.
func add(to map[string]func() *ipam.Error, makeError func() *ipam.Error, names ...string) map[string]func() *ipam.Error {
	for _, name := range names {
		to[name] = makeError
	}
	return to
}

// outOfDate reports whether a transaction violated the constraint because it was planned from old data. For example, the row that it inserts exists
// by now, or its project is deleted. A retry reads the new data and succeeds, or refuses the request for a clear reason.
func outOfDate(pg *pgconn.PgError) bool {
	return pg.Code == write.UniqueViolation && slices.Contains(outdatedKeys, pg.ConstraintName) ||
		pg.Code == foreignKeyViolation && slices.Contains(outdatedReferences, pg.ConstraintName)
}

func exists(sentence string) func() *ipam.Error {
	return func() *ipam.Error {
		return ipam.Errorf(ipam.CodeAlreadyExists, "%s", sentence).At("/metadata/name", "is taken; choose another name.")
	}
}

func gone(sentence string) func() *ipam.Error {
	return func() *ipam.Error { return ipam.Errorf(ipam.CodeNotFound, "%s", sentence) }
}

func meanwhile() *ipam.Error {
	return ipam.Errorf(ipam.CodeContention, "Another request changed the same data at the same time. Nothing was changed; repeat the request.")
}

func bug() *ipam.Error {
	return ipam.Errorf(ipam.CodeInternal, "The change would have made the stored data inconsistent and was not made.")
}

// databaseError converts a server error to the error for the caller. It uses the SQLSTATE and the constraint's name, and never the error's text.
func databaseError(op string, pg *pgconn.PgError) error {
	switch pg.Code {
	case "57014": // cancelled by our deadline or by statement_timeout
		return Deadline(pg)
	case write.UniqueViolation, foreignKeyViolation, "23514", "23502":
		// A foreign key is also violated if the referenced row is deleted while it is in use.
		if pg.Code == foreignKeyViolation && (op == "project_delete" || op == "space_delete") {
			return ipam.Errorf(ipam.CodeInUse, "The resource is still in use and was not deleted. Delete the objects that use it first.").WithCause(pg)
		}
		if makeError, ok := constraints[pg.ConstraintName]; ok {
			return makeError().WithCause(pg)
		}
	}
	return ipam.Errorf(ipam.CodeInternal, "The database refused the operation.").WithCause(pg)
}
