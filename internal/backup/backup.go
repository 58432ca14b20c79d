package backup

import (
	"context"
	"fmt"
)

// Options configures a backup.
type Options struct {
	DSN string
	// To is a directory that does not exist yet or is empty. On CockroachDB it is a backup collection's URI, and the database nodes write to it.
	To string
	// Manifest is the file for a CockroachDB backup's manifest. A PostgreSQL backup contains its manifest, so it needs no such file.
	Manifest string
	// Carve is this program's version.
	Carve string
}

// Create backs up a database. Servers may continue to use the database.
func Create(ctx context.Context, o Options) (m Manifest, err error) {
	c, engine, err := connect(ctx, o.DSN)
	if err != nil {
		return m, err
	}
	defer closeConn(ctx, c)
	switch {
	case engine == PostgreSQL && isURI(o.To):
		return m, fmt.Errorf("%w: a backup of PostgreSQL goes into a directory, not to %s", ErrUsage, o.To)
	case engine == PostgreSQL && o.Manifest != "":
		return m, fmt.Errorf("%w: a backup of PostgreSQL contains its manifest; leave out --manifest", ErrUsage)
	case engine == PostgreSQL:
		return dump(ctx, c, o)
	case !isURI(o.To):
		return m, fmt.Errorf("%w: CockroachDB's nodes write a backup themselves: use a URI that all of them reach, such as external://backups or nodelocal://1/carve", ErrUsage)
	case o.Manifest == "":
		return m, fmt.Errorf("%w: set --manifest to a file for the description of the backup; a restore needs it", ErrUsage)
	default:
		return collect(ctx, c, o)
	}
}
