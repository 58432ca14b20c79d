package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// entry is a file of an archive. The unpacking program creates directories.
type entry struct {
	name    string
	mode    int64
	content []byte
}

const (
	fileMode    = 0o644
	programMode = 0o755
)

// tree reads the files below a directory as entries below a name. It skips files whose names begin with a dot.
func tree(dir, below string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name()[0] == '.' {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		entries = append(entries, entry{path.Join(below, filepath.ToSlash(name)), fileMode, content})
		return nil
	})
	return entries, err
}

// tarball writes a tar archive. Entries are sorted by name, have the same time and no owner, so that archives are reproducible.
func tarball(w io.Writer, entries []entry, when time.Time) error {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	t := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: when, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.content); err != nil {
			return err
		}
	}
	return t.Close()
}

// tgz returns a tarball that is compressed with gzip. The gzip header has no name and no time, so that archives are reproducible.
func tgz(entries []entry, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := tarball(z, entries, when); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// zipped returns a zip archive, which Windows can open without additional tools.
func zipped(entries []entry, when time.Time) ([]byte, error) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when}
		h.SetMode(fs.FileMode(e.mode)) //nolint:gosec // G115: modes are ours
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
