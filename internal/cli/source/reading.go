package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Reading has the rows in a source's files.
type Reading struct {
	Records Records
	// Notes lists remarks about the files for the user.
	Notes []string
	// Missing lists reasons to believe that the source has more rows than these files.
	Missing []string
	// Table is true if a file is a table. The reader cannot detect that a table was truncated between two lines.
	Table bool
	// Lists names the kinds of rows for which there is a file, even if that file has no rows. If several files have the same kind, there is a name for
	// each.
	Lists []string
	// Sum is a hash of all files.
	Sum string

	// Unknown lists the columns that the reader does not know. A mapping can use their values as fields.
	Unknown []Unknown

	fields map[string]bool // the fields that rows can have, even if no row has a value
	titles []string        // all column titles, as the files spell them
}

// reader reads a source's files. If a row is not valid, its record has a Problem. An error means that a whole file is not valid.
type reader func(files []File, out *Reading) error

// readers maps a source's name to its reader.
var readers = map[string]reader{
	"netbox": readNetBox, "csv": readCSV, "phpipam": readPHPIPAM, "infoblox": readInfoblox, "aws": readAWS, "whereabouts": readWhereabouts, "plan": readPlan,
}

// Read reads all rows in a source's files. If a file is not valid, it returns an error.
func Read(of string, files []File) (*Reading, error) {
	out := &Reading{fields: map[string]bool{}}
	sum := sha256.New()
	files = slices.Clone(files)
	for n := range files {
		if err := files[n].scan(sum); err != nil {
			return nil, err
		}
	}
	out.Sum = hex.EncodeToString(sum.Sum(nil))
	if err := readers[of](files, out); err != nil {
		return nil, err
	}
	if !out.any(func(r Record) bool { return r.Kind != Reference || r.Problem != "" }) {
		return nil, fmt.Errorf("%s: no row contains an address or a network of %s: it seems to be %s", files[0].Name, of, files[0].detectFormat())
	}
	if err := out.columnsUsed(files); err != nil {
		return nil, err
	}
	return out, nil
}

// list adds a kind of rows to Lists.
func (out *Reading) list(name string) {
	if !slices.Contains(out.Lists, name) {
		out.Lists = append(out.Lists, name)
	}
}

// listFile adds a kind of rows to Lists once for each file.
func (out *Reading) listFile(name string) {
	one := name
	for n := 2; slices.Contains(out.Lists, one); n++ {
		one = fmt.Sprintf("%s (file %d)", name, n)
	}
	out.list(one)
}

// columnsUsed checks that each title in `columns` of the mapping exists in a file.
func (out *Reading) columnsUsed(files []File) error {
	for _, f := range files {
		for name, theirs := range f.Columns {
			if !slices.ContainsFunc(out.titles, func(title string) bool { return column(title) == column(theirs) }) {
				return fmt.Errorf("%s: columns.%s of the mapping is %q, but no file has this column", f.Name, name, theirs)
			}
		}
	}
	return nil
}

// CanHave reports whether a row in these files can have the field.
func (out *Reading) CanHave(field string) bool {
	if out.fields[field] || slices.Contains(ownFields, field) {
		return true
	}
	return out.any(func(r Record) bool { return r.Fields.Get(field) != "" })
}

// any reports whether at least one row has a property.
func (out *Reading) any(has func(Record) bool) bool {
	for _, r := range out.Records.All() {
		if has(r) {
			return true
		}
	}
	return false
}

// fill adds fields that rows can have.
func (out *Reading) fill(names ...string) {
	for _, name := range names {
		out.fields[name] = true
	}
}
