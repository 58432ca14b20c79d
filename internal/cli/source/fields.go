package source

import (
	"iter"
	"slices"
	"strings"
)

// Fields are values by name. The rows of a table share the names of their columns, so that each row costs little memory.
type Fields struct {
	columns *[]string
	cells   []string // the values of the columns; there may be fewer
	more    []string // name, value, name, value, ...
}

// Get is the value of a field; of several columns with one name, the first that is not empty.
func (f Fields) Get(name string) string {
	for at := 0; at < len(f.more); at += 2 {
		if f.more[at] == name {
			return f.more[at+1]
		}
	}
	if f.columns == nil {
		return ""
	}
	for at, column := range *f.columns {
		if column == name && at < len(f.cells) && strings.TrimSpace(f.cells[at]) != "" {
			return strings.TrimSpace(f.cells[at])
		}
	}
	return ""
}

// Set gives a field a value. It covers the column of the same name, if there is one.
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

// All are the fields that have values.
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
