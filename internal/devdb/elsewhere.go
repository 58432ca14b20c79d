//go:build !unix

package devdb

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// errElsewhere is what everything about an embedded database answers where there is none.
var errElsewhere = fmt.Errorf("the embedded database and PostgreSQL's programs do not work on %s: "+
	"set --database-url, and make backups on a Unix system", runtime.GOOS)

// DB is a running embedded database. There is none on this system.
type DB struct{}

// Start refuses: there is no embedded database on this system.
func Start(context.Context, Config) (*DB, error) { return nil, errElsewhere }

// DSN is the connection URL of the database.
func (*DB) DSN() string { return "" }

// Engine says which engine runs.
func (*DB) Engine() Engine { return "" }

// Exited is closed when the database process has ended.
func (*DB) Exited() <-chan struct{} { return nil }

// Err says how the database ended by itself.
func (*DB) Err() error { return errElsewhere }

// Stop shuts the database down.
func (*DB) Stop(context.Context) error { return nil }

// Find refuses: no server keeps an embedded database on this system.
func Find(string) (dsn string, err error) { return "", errors.Join(ErrNotRunning, errElsewhere) }

// FindProgram refuses: PostgreSQL's programs are not looked for on this system.
func FindProgram(context.Context, string, int) (Program, error) { return Program{}, errElsewhere }
