//go:build !unix

package devdb

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// errElsewhere is every function's error on a system without embedded databases.
var errElsewhere = fmt.Errorf("the embedded database and PostgreSQL's programs do not work on %s: "+
	"set --database-url, and make backups on a Unix system", runtime.GOOS)

// DB is a running embedded database. This system has none.
type DB struct{}

// Start fails: this system has no embedded database.
func Start(context.Context, Config) (*DB, error) { return nil, errElsewhere }

// DSN returns the database's connection URL.
func (*DB) DSN() string { return "" }

// Engine returns the running engine.
func (*DB) Engine() Engine { return "" }

// Exited returns a channel that is closed when the database process has ended.
func (*DB) Exited() <-chan struct{} { return nil }

// Err returns the error if the database ended by itself.
func (*DB) Err() error { return errElsewhere }

// Stop shuts the database down.
func (*DB) Stop(context.Context) error { return nil }

// Find fails: no server on this system has an embedded database.
func Find(string) (dsn string, err error) { return "", errors.Join(ErrNotRunning, errElsewhere) }

// FindProgram fails: this system does not search for PostgreSQL's programs.
func FindProgram(context.Context, string, int) (Program, error) { return Program{}, errElsewhere }
