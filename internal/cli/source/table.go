package source

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// row is one line of a table: its cells by the names of their columns, in lower case with underscores.
type row struct {
	line  int
	names []string
	cells []string
}

// get is the first cell that is not empty of some columns.
func (r row) get(names ...string) string {
	for _, name := range names {
		for i, n := range r.names {
			if n == name && i < len(r.cells) && strings.TrimSpace(r.cells[i]) != "" {
				return strings.TrimSpace(r.cells[i])
			}
		}
	}
	return ""
}

// raw is a cell as it is, with the blanks around it.
func (r row) raw(name string) string {
	if i := slices.Index(r.names, name); i >= 0 && i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

func (r row) has(name string) bool {
	return slices.Contains(r.names, name)
}

// fields notes all cells but those of some columns.
func (r row) fields(into *Record, but ...string) {
	for i, name := range r.names {
		skip := i >= len(r.cells) || name == ""
		for _, b := range but {
			skip = skip || b == name
		}
		if !skip {
			into.set(name, r.cells[i])
		}
	}
}

// column is the name of a column as rows have it.
func column(title string) string {
	title = strings.ToLower(strings.Trim(strings.TrimSpace(title), "*"))
	return strings.NewReplacer(" ", "_", "-", "_").Replace(title)
}

// column is the name of a column of a file, by which it is known here.
func (f File) column(title string) string {
	for name, theirs := range f.Columns {
		if column(theirs) == column(title) {
			return name
		}
	}
	return column(title)
}

// eachLine goes through the lines of a CSV file, with commas or semicolons or tabs between.
func eachLine(f File, line func(number int, cells []string) error) error {
	text := bytes.TrimPrefix(f.Text, []byte("\xef\xbb\xbf"))
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = separator(text), -1, true, false
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		number, _ := r.FieldPos(0)
		if err := line(number, cells); err != nil {
			return err
		}
	}
}

// separator is what stands between the titles of the first line.
func separator(text []byte) rune {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	best, most := ',', bytes.Count(first, []byte(","))
	for _, r := range ";\t" {
		if n := bytes.Count(first, []byte(string(r))); n > most {
			best, most = r, n
		}
	}
	return best
}

// table reads a CSV file whose first line has the titles.
func table(f File) (rows []row, err error) {
	var names []string
	err = eachLine(f, func(number int, cells []string) error {
		switch {
		case names == nil:
			for _, title := range cells {
				names = append(names, f.column(title))
			}
		case len(strings.TrimSpace(strings.Join(cells, ""))) > 0:
			rows = append(rows, row{number, names, cells})
		}
		return nil
	})
	if err == nil && names == nil {
		err = fmt.Errorf("%s: it is empty", f.Name)
	}
	return rows, err
}

// at is the ID of a line.
func at(f File, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(f.Name), line) }

var lineID = regexp.MustCompile(`:\d+(#\d+)?$`)

// OfLine reports whether an ID is that of a line. Such a one says where the row was found, and not which it is: it changes with the lines before.
func OfLine(id string) bool { return lineID.MatchString(id) && !strings.Contains(id, "/") }
