package devdb

import (
	"cmp"
	"log/slog"
)

// Engine is a database that can be embedded.
type Engine string

// The engines. The zero value of [Config.Engine] means Postgres.
const (
	Postgres  Engine = "postgres"
	Cockroach Engine = "cockroach"
)

// database is the name of the database that the first start creates.
const database = "carve"

// Config defines the database and its directory.
type Config struct {
	// DataDir is created if it does not exist, with access for this user alone.
	DataDir string
	// Engine is Postgres if empty.
	Engine Engine
	// Log receives lines about starts, stops and repairs; nil: no log.
	Log *slog.Logger
	// MaxConnections limits concurrent sessions. 0 means 100. It is only for PostgreSQL.
	MaxConnections int
	// Region is the node's locality. "" means "local". It is only for CockroachDB.
	Region string
	// Volatile turns off fsync, which makes the database faster. A killed process loses no data, but a power cut may destroy all data. Use it only for
	// tests, with PostgreSQL.
	Volatile bool
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = 100
	}
	c.Engine, c.Region = cmp.Or(c.Engine, Postgres), cmp.Or(c.Region, "local")
	return c
}

// EnvPostgresBin is the name of the environment variable for the directory with PostgreSQL's programs. If the variable is set, no other directory is
// searched.
const EnvPostgresBin = "CARVE_POSTGRES_BIN"

// Program is a PostgreSQL client program, such as pg_dump.
type Program struct {
	Path    string
	Version string // as the program prints it
	Major   int
}
