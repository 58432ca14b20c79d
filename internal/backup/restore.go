package backup

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// RestoreOptions are a restore's source and target.
type RestoreOptions struct {
	DSN string
	// From is a backup's directory. On CockroachDB it is the collection's URI, or "" for the collection in the manifest.
	From string
	// Manifest is the file with a CockroachDB backup's manifest; see [Options.Manifest].
	Manifest string
	// Replace allows the restore to drop the database's content.
	Replace bool
	// Regions are the installation's regions, in order. nil: the database's regions, if it has any.
	Regions []string
	// Schema is the number of the last migration that this program knows.
	Schema int64
}

// Restore restores a backup into a database and returns the backup's manifest. It makes all checks before it changes anything.
func Restore(ctx context.Context, o RestoreOptions) (Manifest, error) {
	m, err := Look(o)
	if err != nil {
		return m, err
	}
	if m.Engine == CockroachDB {
		return m, restoreCockroach(ctx, m, o)
	}
	return m, load(ctx, m, o)
}

// Look returns a backup's manifest. It makes only the checks that need no database. It returns an error if the manifest is missing, if the schema is
// too new, or if the regions differ from o.Regions.
func Look(o RestoreOptions) (Manifest, error) {
	m, err := manifestFor(o)
	if err != nil {
		return m, err
	}
	if m.Schema > o.Schema {
		return m, fmt.Errorf("%w: the backup has schema %d, and this program knows schemas up to %d: restore it with the version that made it (%s), or a later one", ErrUsage, m.Schema, o.Schema, m.Carve)
	}
	if len(o.Regions) > 0 {
		if err := sameRegions(m.Regions, o.Regions, "--regions has"); err != nil {
			return m, err
		}
	}
	return m, nil
}

func manifestFor(o RestoreOptions) (Manifest, error) {
	switch {
	case o.Manifest != "":
		return ReadManifest(o.Manifest)
	case isURI(o.From):
		return Manifest{}, fmt.Errorf("%w: set --manifest to the file with the description of the backup", ErrUsage)
	default:
		return ReadManifest(o.From)
	}
}

// sameRegions returns an error if the regions differ or were added in another order. The order matters because CockroachDB stores a row's region as a
// position in this order.
func sameRegions(backup, other []string, whose string) error {
	if slices.Equal(backup, other) {
		return nil
	}
	return fmt.Errorf("%w: the backup has %s, in this order, and %s %s. A restore needs the same regions, added in the same order",
		ErrRegions, strings.Join(backup, ", "), whose, strings.Join(other, ", "))
}

// checkReplace returns an error if the database contains data that must be kept, or has other regions than the backup.
func (has content) checkReplace(m Manifest, o RestoreOptions, database string) error {
	if len(has.foreign) > 0 {
		return fmt.Errorf("%w: database %q has tables that are not Carve's (%s): use a separate database for Carve", ErrNotEmpty, database, strings.Join(has.foreign, ", "))
	}
	if has.filled != "" && !o.Replace {
		return fmt.Errorf("%w: %q has rows in %s. Restore into an empty database, or drop its contents with --replace", ErrNotEmpty, database, has.filled)
	}
	if len(has.regions) > 0 {
		return sameRegions(m.Regions, has.regions, fmt.Sprintf("database %q has", database))
	}
	return nil
}
