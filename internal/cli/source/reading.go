package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Reading is everything that the files of one source say.
type Reading struct {
	Records []Record
	// Notes are remarks about the files that a person must see.
	Notes []string
	// Missing are the reasons why the source has more rows than these files.
	Missing []string
	// Table reports whether a file is a table. A table that was cut at the end of a line is still a table, so nothing in it shows the cut.
	Table bool
	// Sum identifies the content of the files.
	Sum string

	// Unknown are the columns that a reader does not know; their values are fields for mappings.
	Unknown []Unknown

	fields map[string]bool // the fields that rows can have, also where no row has a value
	titles []string        // the titles of all columns, as the files write them
}

// reader reads files of one source into a reading. A row that makes no sense has a problem; an error is about a whole file.
type reader func(files []File, out *Reading) error

// readers are the sources by the names that people type.
var readers = map[string]reader{
	"netbox": readNetBox, "csv": readCSV, "phpipam": readPHPIPAM, "infoblox": readInfoblox, "aws": readAWS, "whereabouts": readWhereabouts, "plan": readPlan,
}

// Read reads the files of a source completely, or returns an error.
func Read(of string, files []File) (*Reading, error) {
	out := &Reading{fields: map[string]bool{}}
	sum := sha256.New()
	decoded := make([]File, len(files))
	for n, f := range files {
		_, _ = fmt.Fprintf(sum, "%d\n", len(f.Text))
		sum.Write(f.Text)
		text, err := f.decode()
		if err != nil {
			return nil, err
		}
		decoded[n] = f
		decoded[n].Text = text
	}
	out.Sum = hex.EncodeToString(sum.Sum(nil))
	if err := readers[of](decoded, out); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(out.Records, func(r Record) bool { return r.Kind != Reference || r.Problem != "" }) {
		return nil, fmt.Errorf("%s: no row in it is about an address or a network of %s: it seems to be %s", decoded[0].Name, of, seems(decoded[0].Text))
	}
	if err := out.columnsUsed(files); err != nil {
		return nil, err
	}
	return out, nil
}

// columnsUsed checks that the names in `columns` of the mapping are titles of a file.
func (out *Reading) columnsUsed(files []File) error {
	for _, f := range files {
		for name, theirs := range f.Columns {
			if !slices.ContainsFunc(out.titles, func(title string) bool { return column(title) == column(theirs) }) {
				return fmt.Errorf("%s: columns.%s of the mapping is %q, and no file has such a column", f.Name, name, theirs)
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
	return slices.ContainsFunc(out.Records, func(r Record) bool { return r.Fields.Get(field) != "" })
}

// fill gives fields that rows can have.
func (out *Reading) fill(names ...string) {
	for _, name := range names {
		out.fields[name] = true
	}
}
