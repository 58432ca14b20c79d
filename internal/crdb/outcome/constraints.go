package outcome

import (
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// constraints maps each named constraint of the migrations to the error that a caller gets for a violation. A test compares the map with the
// migrations.
var constraints = map[string]func() *ipam.Error{
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

	// A transaction that was planned from old data violates these: see outOfDate.
	"members_pkey": meanwhile, "members_subject_key": meanwhile, "members_project_fkey": meanwhile, "api_keys_project_fkey": meanwhile,
	"grants_pkey": meanwhile, "grants_consumer_key": meanwhile, "quotas_pkey": meanwhile, "quotas_project_fkey": meanwhile,
	"quota_shards_pkey": meanwhile, // if a region is newer than the quota, the first claim there creates the shard

	"classes_project_fkey": meanwhile, "pool_classes_class_fkey": meanwhile, "pools_scope_class_fkey": meanwhile, "pools_scope_key": meanwhile,

	// A violation marked bug is never the caller's fault. For example, ids are random, and a transaction deletes the free rows of a block before it
	// takes the block.
	"projects_pkey": bug, "spaces_pkey": bug, "pools_pkey": bug, "pools_block_key": bug, "free_blocks_pkey": bug,
	"holds_pkey": bug, "holds_id_key": bug, "holds_name_key": meanwhile, "idempotency_keys_pkey": meanwhile,
	"pools_af_check": bug, "pools_visibility_check": bug, "pools_strategy_check": bug, "pools_drain_check": bug,
	"holds_purpose_check": bug, "holds_phases_check": bug, "holds_claim_check": bug, "holds_owner_check": bug,
	"members_role_check": bug, "api_keys_pkey": bug, "sessions_pkey": bug, "api_keys_role_check": bug, "grants_kind_check": bug,
	"quotas_id_key": bug, "quotas_af_check": bug,
	"classes_pkey": bug, "classes_af_check": bug, "classes_visibility_check": bug, "pool_classes_pkey": bug, "pool_classes_pool_fkey": bug,
	"audit_events_pkey": bug, "history_pkey": bug, "removals_pkey": bug,

	"regions_pkey": bug, "regions_ordinal_key": bug, "pool_regions_pkey": bug, "pool_regions_pool_fkey": bug, "region_blocks_pkey": bug, "region_blocks_pool_fkey": bug,
	"consumers_pkey": bug, "consumers_ended_check": bug, "attachments_pkey": bug, "realms_pkey": bug,
	"alert_rules_pkey": exists("An alert rule of this name exists already in the project."), "alerts_pkey": bug, "utilization_pkey": bug,
	"webhooks_pkey": exists("A webhook of this name exists already in the project."), "deliveries_pkey": bug,
	"stocks_pkey": bug, "fences_pkey": bug, "compatibility_pkey": bug, "compatibility_id_check": bug, "feed_pkey": bug, "feed_id_check": bug, "project_regions_pkey": bug,
}

// outOfDate reports whether a transaction violated the constraint because it was planned from old data. For example, the row that it inserts exists
// by now, or its project is deleted. A retry reads the new data and succeeds, or refuses the request for a clear reason.
func outOfDate(pg *pgconn.PgError) bool {
	switch pg.ConstraintName {
	case "members_pkey", "members_subject_key", "grants_pkey", "grants_consumer_key", "quotas_pkey", "quota_shards_pkey", "pools_scope_key":
		return pg.Code == write.UniqueViolation
	case "members_project_fkey", "api_keys_project_fkey", "quotas_project_fkey", "classes_project_fkey", "pool_classes_class_fkey", "pools_scope_class_fkey":
		return pg.Code == foreignKeyViolation
	}
	return false
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

// databaseError converts a server error to the error for the caller. It uses the SQLSTATE and the name of the constraint, and never the text of the
// error.
func databaseError(op string, pg *pgconn.PgError) error {
	switch pg.Code {
	case "57014": // cancelled by our deadline or by statement_timeout
		return Deadline(pg)
	case write.UniqueViolation, foreignKeyViolation, "23514", "23502":
		// A foreign key is also violated if the referenced row is deleted while it is in use.
		if pg.Code == foreignKeyViolation && isDelete(op) {
			return ipam.Errorf(ipam.CodeInUse, "The resource is still in use and was not deleted. Delete the objects that use it first.").Because(pg)
		}
		if say, ok := constraints[pg.ConstraintName]; ok {
			return say().Because(pg)
		}
	}
	return ipam.Errorf(ipam.CodeInternal, "The database refused the operation.").Because(pg)
}

func isDelete(op string) bool { return op == "project_delete" || op == "space_delete" }
