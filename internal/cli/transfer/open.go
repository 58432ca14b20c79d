package transfer

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// opened is an open file that can be read several times.
type opened struct {
	*io.SectionReader
	file     *os.File
	before   os.FileInfo
	leftover bool // the file is temporary, and close must remove it
}

var _ source.Text = (*opened)(nil)

// open opens a file. If an input can be read only once, such as a pipe, open copies it into a temporary file.
func open(p *session.Program, path string) (*opened, error) {
	from := p.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		is, err := f.Stat()
		switch {
		case err != nil:
			return nil, errors.Join(err, f.Close())
		case is.Mode().IsRegular():
			return &opened{SectionReader: io.NewSectionReader(f, 0, is.Size()), file: f, before: is}, nil
		}
		defer func() { _ = f.Close() }() // an error here does not matter, because the file was only read
		from = f
	}
	f, err := os.CreateTemp("", "ipamctl-import-")
	if err != nil {
		return nil, err
	}
	// On Unix, a program can remove an open file's name. The copy then disappears even if the program is killed. Windows does not allow that.
	o := &opened{file: f, leftover: os.Remove(f.Name()) != nil}
	size, err := io.Copy(f, from)
	if err == nil {
		o.before, err = f.Stat()
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	o.SectionReader = io.NewSectionReader(f, 0, size)
	return o, nil
}

// unchanged returns an error if the file has changed since it was opened. Otherwise two reads could return different texts.
func (o *opened) unchanged() error {
	now, err := o.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() != o.before.Size() || !now.ModTime().Equal(o.before.ModTime()) {
		return fmt.Errorf("%s changed during the import: import it when it is complete", o.file.Name())
	}
	return nil
}

func (o *opened) close() error {
	err := o.file.Close()
	if o.leftover {
		err = errors.Join(err, os.Remove(o.file.Name()))
	}
	return err
}
