package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// partial is the suffix that a backup's directory has while the backup is in progress. At the end, the directory gets its final name.
const partial = ".partial"

// dump makes a backup with pg_dump, from the same snapshot as the manifest.
func dump(ctx context.Context, c *pgx.Conn, o Options) (m Manifest, err error) {
	m, major, err := describePostgres(ctx, c, o)
	if err != nil {
		return m, err
	}
	pgDump, err := findTool(ctx, "pg_dump", o.DSN, major)
	if err != nil {
		return m, err
	}
	m.Tool = pgDump.program.Version
	to, err := filepath.Abs(o.To)
	if err != nil {
		return m, err
	}
	if err := makePartialDir(to); err != nil {
		return m, err
	}
	unfinished := to + partial
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(unfinished))
		}
	}()
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}) //nolint:forbidigo // a read-only snapshot, not the service's transaction
	if err != nil {
		return m, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := m.read(ctx, tx); err != nil {
		return m, err
	}
	var snapshot string
	if err := tx.QueryRow(ctx, "SELECT pg_export_snapshot(), now()").Scan(&snapshot, &m.TakenAt); err != nil {
		return m, err
	}
	m.TakenAt = m.TakenAt.UTC()
	file := filepath.Join(unfinished, dumpName)
	if err := pgDump.run(ctx, "--format=custom", "--no-owner", "--no-privileges", "--snapshot="+snapshot, "--file="+file); err != nil {
		return m, err
	}
	if err := os.Chmod(file, 0o600); err != nil { // the file contains names and API key hashes
		return m, err
	}
	if m.Size, m.SHA256, err = digest(file, true); err != nil {
		return m, err
	}
	if err := m.write(filepath.Join(unfinished, manifestName)); err != nil {
		return m, err
	}
	return m, os.Rename(unfinished, to)
}

// makePartialDir creates the directory for a backup in progress, next to its final path.
func makePartialDir(to string) error {
	there, err := os.Lstat(to)
	if err == nil && there.IsDir() {
		err = os.Remove(to) // fails unless the directory is empty
	} else if err == nil {
		err = os.ErrExist
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s exists and is not an empty directory: use a separate directory for each backup", ErrUsage, to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(to+partial, 0o700); err != nil {
		return fmt.Errorf("another backup to this directory is in progress, or was interrupted (then remove its files): %w", err)
	}
	return nil
}

// describePostgres starts the manifest. It also returns the server's major version.
func describePostgres(ctx context.Context, c *pgx.Conn, o Options) (m Manifest, major int, err error) {
	m = Manifest{Format: manifestFormat, Carve: o.Carve, Engine: PostgreSQL, Database: c.Config().Database}
	if err := c.QueryRow(ctx, "SHOW server_version").Scan(&m.EngineVersion); err != nil {
		return m, 0, err
	}
	m.EngineVersion, _, _ = strings.Cut(m.EngineVersion, " ") // after the blank comes the package's distributor
	first, _, _ := strings.Cut(m.EngineVersion, ".")
	if major, err = strconv.Atoi(first); err != nil {
		return m, 0, fmt.Errorf("the server's version is %q", m.EngineVersion)
	}
	return m, major, nil
}

// read sets the manifest's schema and regions from the database.
func (m *Manifest) read(ctx context.Context, c querier) error {
	has, err := contentOf(ctx, c)
	if err != nil {
		return err
	}
	if has.schema == 0 {
		return fmt.Errorf("%w: database %q does not have Carve's schema: there is nothing to back up", ErrUsage, m.Database)
	}
	m.Schema, m.Regions = has.schema, has.regions
	return nil
}

// digest returns a file's size and SHA-256. If sync is true, it also syncs the file to the disk.
func digest(file string, sync bool) (size int64, sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = f.Close() }()
	if sync {
		if err := f.Sync(); err != nil {
			return 0, "", err
		}
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}
