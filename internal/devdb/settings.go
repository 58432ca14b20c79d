//go:build unix

package devdb

import (
	"os"
	"strconv"
)

// postgresSettings returns the settings for every start. The command line overrides the cluster's own files. So a cluster that an older release
// created behaves as this release expects.
func postgresSettings(cfg Config) []string {
	settings := []string{
		"cluster_name=carve",
		"listen_addresses=",
		"port=5432", // only for the socket's name
		"unix_socket_permissions=0700",
		"max_connections=" + strconv.Itoa(cfg.MaxConnections),
		"shared_buffers=256MB",
		// Serializable transactions take predicate locks. When these run out, PostgreSQL merges them into coarser ones, which cause false conflicts.
		"max_pred_locks_per_transaction=256",
		"default_transaction_isolation=serializable",
		"jit=off", // JIT costs more time than it saves for short statements
		"timezone=UTC",
		"log_timezone=UTC",
		"log_destination=stderr",
		"logging_collector=off",
		"log_line_prefix=%m [%p] ",
		// A failed statement returns its error to the client, and the client logs the errors that matter. Under load, a second log with serialization
		// failures would fill the disk.
		"log_min_messages=log",
		"log_checkpoints=off",
	}
	if cfg.Volatile {
		// Without durability, a long WAL is useless. In tests the directory may be in memory, so the WAL must stay small.
		settings = append(settings, "wal_level=minimal", "max_wal_senders=0", "max_wal_size=256MB", "fsync=off", "synchronous_commit=off", "full_page_writes=off")
	} else {
		// A new database has no statistics until the first ANALYZE. Its plans are bad until then: each deletion reads every claim. Autovacuum runs
		// ANALYZE, by default after up to a minute. In a test database, autovacuum must not run while a test compares plans, so this setting is not
		// for tests.
		settings = append(settings, "autovacuum_naptime=5s", "fsync=on", "synchronous_commit=on", "full_page_writes=on")
	}
	var args []string
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}

// postgresEnv returns the few variables that PostgreSQL's programs need. It omits the user's PG* variables, which refer to another database.
func postgresEnv() []string {
	env := []string{"LC_ALL=C.UTF-8"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
