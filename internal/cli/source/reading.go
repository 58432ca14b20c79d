package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Reading is the content of one source's files.
type Reading struct {
	Records Records
	// Notes are remarks about the files for the user.
	Notes []string
	// Missing are the reasons why the source has more rows than these files.
	Missing []string
	// Table reports whether a file is a table. A table that was truncated at the end of a line is still valid, so the reader cannot detect the
	// truncation.
	Table bool
	// Sum identifies the content of the files.
	Sum string

	// Unknown are the unknown columns; mappings can use their values as fields.
	Unknown []Unknown

	fields map[string]bool // fields that rows can have, even if no row has a value
	titles []string        // titles of all columns, as in the files
}

// reader reads one source's files. An invalid row becomes a record with a Problem; an error concerns a whole file.
type reader func(files []File, out *Reading) error

// readers are the sources by name.
var readers = map[string]reader{
	"netbox": readNetBox, "csv": readCSV, "phpipam": readPHPIPAM, "infoblox": readInfoblox, "aws": readAWS, "whereabouts": readWhereabouts, "plan": readPlan,
}

// Read reads the files of a source completely, or returns an error.
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

// columnsUsed checks that the names in `columns` of the mapping are titles in a file.
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

// CanHave reports whether a row of these files can have a field.
func (out *Reading) CanHave(field string) bool {
	if out.fields[field] || slices.Contains(ownFields, field) {
		return true
	}
	return out.any(func(r Record) bool { return r.Fields.Get(field) != "" })
}

// any reports whether a row has a property.
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
