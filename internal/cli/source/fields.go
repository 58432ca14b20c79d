package source

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/packed"
)

// Fields maps names to values. A table's rows share the column names. A row keeps its cells in one string, so it needs little more memory than its
// text.
type Fields struct {
	columns *[]string
	cells   string   // the cells, each after its length; there may be fewer cells than columns
	exact   bool     // blanks around a cell belong to its value
	more    []string // name, value, name, value, ...
}

// cellsOf returns Fields for a row's cells.
func cellsOf(columns *[]string, cells []string) Fields {
	size := 0
	for _, cell := range cells {
		size += binary.MaxVarintLen32 + len(cell)
	}
	text := make([]byte, 0, size)
	for _, cell := range cells {
		text = packed.AppendText(text, cell)
	}
	return Fields{columns: columns, cells: string(text)}
}

// each iterates over the columns and their cells. The cells have their surrounding blanks.
func (f Fields) each(yield func(column, cell string) bool) {
	if f.columns == nil {
		return
	}
	rest := packed.Rest(f.cells)
	for _, column := range *f.columns {
		if rest == "" {
			return
		}
		if !yield(column, rest.Text()) {
			return
		}
	}
}

// raw returns a cell with its surrounding blanks.
func (f Fields) raw(name string) string {
	for column, cell := range f.each {
		if column == name {
			return cell
		}
	}
	return ""
}

// Get returns a field's value. If several columns have this name, it returns the first value that is not empty.
func (f Fields) Get(name string) string {
	for at := 0; at < len(f.more); at += 2 {
		if f.more[at] == name {
			return f.more[at+1]
		}
	}
	for column, cell := range f.each {
		if column == name {
			if !f.exact {
				cell = strings.TrimSpace(cell)
			}
			if cell != "" {
				return cell
			}
		}
	}
	return ""
}

// Set sets a field. The value takes precedence over the column with the same name.
func (f *Fields) Set(name, value string) {
	for at := 0; at < len(f.more); at += 2 {
		if f.more[at] == name {
			f.more[at+1] = value
			return
		}
	}
	if value != "" || f.columns != nil && slices.Contains(*f.columns, name) {
		f.more = append(f.more, name, value)
	}
}

// All iterates over the fields that have a value.
func (f Fields) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		seen := map[string]bool{"": true}
		names := make([]string, 0, len(f.more)/2)
		for at := 0; at < len(f.more); at += 2 {
			names = append(names, f.more[at])
		}
		if f.columns != nil {
			names = append(names, *f.columns...)
		}
		for _, name := range names {
			if value := f.Get(name); !seen[name] && value != "" && !yield(name, value) {
				return
			}
			seen[name] = true
		}
	}
}
