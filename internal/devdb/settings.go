//go:build unix

package devdb

import (
	"os"
	"strconv"
)

// postgresSettings are the settings of every start. They come on the command
// line, where nothing in the cluster's own files can override them, so a
// cluster behaves as the release that runs it expects.
func postgresSettings(cfg Config) []string {
	settings := [][2]string{
		{"cluster_name", "carve"},
		{"listen_addresses", ""},
		{"port", "5432"}, // only the name of the socket
		{"unix_socket_permissions", "0700"},
		{"max_connections", strconv.Itoa(cfg.MaxConnections)},
		{"shared_buffers", "256MB"},
		// Serializable transactions lock what they read; running out of these locks
		// makes them coarser, and coarser ones conflict where there is no conflict.
		{"max_pred_locks_per_transaction", "256"},
		{"default_transaction_isolation", "serializable"},
		{"jit", "off"}, // costs more than it gives on statements this short
		{"timezone", "UTC"},
		{"log_timezone", "UTC"},
		{"log_destination", "stderr"},
		{"logging_collector", "off"},
		{"log_line_prefix", "%m [%p] "},
		// Failures of statements go to the client, which logs those that matter.
		// Repeated here, serialization failures under load would fill the disk.
		{"log_min_messages", "log"},
		{"log_checkpoints", "off"},
	}
	durable := "on"
	if cfg.Volatile {
		durable = "off"
		// Nor is there a reason to keep a long log, which may be in memory.
		settings = append(settings, [2]string{"wal_level", "minimal"}, [2]string{"max_wal_senders", "0"}, [2]string{"max_wal_size", "256MB"})
	}
	if !cfg.Volatile {
		// A new database has no statistics, and plans made without them stay until it has: for a minute, by default, of
		// reading every claim to delete one. A database of tests is not to be tidied up while its plans are compared.
		settings = append(settings, [2]string{"autovacuum_naptime", "5s"})
	}
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		settings = append(settings, [2]string{name, durable})
	}
	var args []string
	for _, s := range settings {
		args = append(args, "-c", s[0]+"="+s[1])
	}
	return args
}

// postgresEnv is the little that PostgreSQL's programs need. The PG* variables of the
// person who starts the server are meant for another database.
func postgresEnv() []string {
	env := []string{"LC_ALL=C.UTF-8"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
