package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// manifestFormat is the manifest format's version that this program writes and reads.
const manifestFormat = 1

// File names in a backup's directory.
const (
	manifestName = "manifest.json"
	dumpName     = "carve.dump" // in pg_dump's custom format
)

// Engine names in manifests.
const (
	PostgreSQL  = string(dial.Postgres)
	CockroachDB = string(dial.Cockroach)
)

// Manifest describes a backup. It contains no secret.
type Manifest struct {
	Format        int       `json:"format"`
	Carve         string    `json:"carve"` // the version that made the backup
	Engine        string    `json:"engine"`
	EngineVersion string    `json:"engineVersion"`
	Tool          string    `json:"tool"`
	Database      string    `json:"database"`
	Schema        int64     `json:"schema"`  // the last migration's number
	Regions       []string  `json:"regions"` // in the order in which they were added; the first is the primary one
	TakenAt       time.Time `json:"takenAt"` // when the backup's state was current

	// Size and SHA256 describe the dump next to the manifest, on PostgreSQL.
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`

	// Collection and Subdirectory are the location of the backup, on CockroachDB.
	Collection   string `json:"collection,omitempty"`
	Subdirectory string `json:"subdirectory,omitempty"`
}

// ReadManifest reads a backup's manifest. path is the backup's directory or the manifest's file.
func ReadManifest(path string) (m Manifest, err error) {
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		path = filepath.Join(path, manifestName)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s does not exist: a backup that was cut off has no manifest and cannot be restored", path)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if m.Format != manifestFormat {
		return m, fmt.Errorf("%s has format %d; this program reads format %d", path, m.Format, manifestFormat)
	}
	return m, nil
}

// write writes the manifest to a new file that only its owner can read, and syncs the file to the disk.
func (m Manifest) write(path string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}
