package rootfs

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"time"
)

// Tar returns the layer as a tar archive. The archive does not depend on the machine, because its owners are numbers and its times are the given
// time.
func (l Layer) Tar(at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range l.Entries {
		h := &tar.Header{Name: e.Path, Mode: e.Mode, ModTime: at, Typeflag: tar.TypeReg, Size: int64(len(e.Content)), Format: tar.FormatUSTAR}
		if e.Dir {
			h.Name, h.Typeflag, h.Size = e.Path+"/", tar.TypeDir, 0
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.Content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Write writes the layer's files into dir. The Dockerfile copies them from there.
func (l Layer) Write(dir string) error {
	for _, e := range l.Entries {
		at := filepath.Join(dir, filepath.FromSlash(e.Path))
		mode := os.FileMode(e.Mode & 0o777)
		if e.Mode&0o1000 != 0 {
			mode |= os.ModeSticky
		}
		var err error
		if e.Dir {
			err = os.MkdirAll(at, 0o750)
		} else {
			err = os.WriteFile(at, e.Content, 0o600)
		}
		if err != nil {
			return err
		}
		if err := os.Chmod(at, mode); err != nil { // independent of the caller's umask
			return err
		}
	}
	return nil
}
