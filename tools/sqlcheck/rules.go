package sqlcheck

// A rule is one condition that a statement must meet. why is the reason, which a finding includes.
type rule struct {
	name  string
	why   string
	check func(subject, report)
}

// A subject is a statement with its context.
type subject struct {
	statement
	schema      schema
	everyRegion bool // the file declares, with a reason, that the statement reads every region
}

type report func(detail string)

// everyStatement lists the rules for statements and migrations.
var everyStatement = []rule{
	{"function", "CockroachDB has neither every function of PostgreSQL nor the same meaning behind every name; what is on the list of functions.go was looked at", functions},
	{"division", "7 / 2 is 3 on PostgreSQL and 3.5 on CockroachDB, and ^ differs in type: do arithmetic in Go", division},
	{"bit-precedence", "&, | and # bind alike on PostgreSQL and differently on CockroachDB: put parentheses", bitPrecedence},
	{"star", "after an online schema change CockroachDB answers a cached * with 0A000: name the columns", stars},
	{"cast", "CockroachDB takes an untyped placeholder for a string where PostgreSQL looks at the column: write $1::UUID", casts},
	{"integer-size", "INT is 4 bytes on PostgreSQL and 8 on CockroachDB: write INT2, INT4 or INT8", integerSizes},
	{"type", "ranges, domains, network types and others are missing on CockroachDB or order differently there; what is on the list of types.go was looked at", typeNames},
	{"family", "a column named family does not parse unquoted on CockroachDB: use af", familyColumn},
	{"system-name", "ctid, xmax and their like, pg_catalog and crdb_internal are an engine's inside", systemNames},
	{"one-mutation", "CockroachDB refuses two mutations of one table in one statement, and one of the two would not see the other", oneMutation},
	{"insert-columns", "a column added online breaks an INSERT that relies on their order", insertColumns},
	{"on-conflict", "ON CONFLICT names its columns: constraints' names, no target and UPSERT differ or surprise", onConflict},
	{"where", "an UPDATE or DELETE without WHERE is a mistake", mutationWhere},
	{"lock-strength", "FOR SHARE locks nothing on CockroachDB under SERIALIZABLE and the KEY forms are aliases: only FOR UPDATE", lockStrength},
	{"skip-locked", "SKIP LOCKED without LIMIT locks the whole list, and without ORDER BY along a key it locks more rows than it returns", skipLocked},
}

// inQueries lists the rules for the store's statements.
var inQueries = []rule{
	{"statement", "a query is a SELECT, INSERT, UPDATE or DELETE; transactions and sessions are the runner's business", queryKind},
	{"table", "no migration creates the table, or a CTE hides one of that name", tables},
	{"region", "without the region in WHERE CockroachDB asks every region: bind it, or say '-- region: every, because …' in the file's head", regions},
}

// inMigrations lists the rules for the schema.
var inMigrations = []rule{
	{"statement", "a migration is made of tables, indexes, comments and backfills; types, sequences, views, triggers and blocks are not portable or not online", migrationKind},
	{"constraint-name", "errors become domain errors by constraint name, so every constraint and index has one", constraintNames},
	{"idempotent", "on CockroachDB DDL is not transactional: a step that failed half way is run again", idempotent},
	{"identity", "SERIAL and IDENTITY are sequences on PostgreSQL and unique_rowid() on CockroachDB, and one hot range there: UUID keys", identity},
	{"column-type-change", "changing a column's type rewrites and locks; add a column, backfill, drop the old one", columnTypeChange},
	{"region-first", "an index of a regional table that does not begin with the region costs a check in every region for each insert", regionFirst},
}
