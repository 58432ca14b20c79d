package devdb

import "log/slog"

// Engine is a kind of database that can be embedded.
type Engine string

// The engines. The zero value of [Config.Engine] means Postgres.
const (
	Postgres  Engine = "postgres"
	Cockroach Engine = "cockroach"
)

// database is the name of the database that is made on first start.
const database = "carve"

// Config says which database to run, and where.
type Config struct {
	// DataDir is made when it does not exist, readable by this user alone.
	DataDir string
	// Engine is Postgres when empty.
	Engine Engine
	// Log hears of starts, stops and repairs; nil is silence.
	Log *slog.Logger
	// MaxConnections bounds concurrent sessions; 0 means 100. PostgreSQL only.
	MaxConnections int
	// Region is the locality of the node; empty means "local". CockroachDB only.
	Region string
	// Volatile gives up surviving a crash of the machine (no fsync) for speed.
	// It is for tests: a killed process loses nothing, a power cut everything.
	// PostgreSQL only.
	Volatile bool
}

func (c Config) withDefaults() Config {
	if c.Engine == "" {
		c.Engine = Postgres
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = 100
	}
	if c.Region == "" {
		c.Region = "local"
	}
	return c
}

// EnvPostgresBin names the environment variable with the directory of
// PostgreSQL's programs. When it is set no other place is looked at.
const EnvPostgresBin = "CARVE_POSTGRES_BIN"

// Program is one of PostgreSQL's programs for clients, such as pg_dump.
type Program struct {
	Path    string
	Version string // as it says itself
	Major   int
}
