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

	"github.com/carve-ipam/carve/internal/cli/show"
)

// row is one line in a table.
type row struct {
	id     string // its file and its line
	fields Fields
}

// get returns the first cell in the named columns that is not empty.
func (r row) get(names ...string) string {
	for _, name := range names {
		if value := r.fields.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// only returns the value of a field that several columns can have. If these columns have different values, the record gets a problem, because only one
// value could be used.
func (r row) only(out *Record, names ...string) string {
	value := r.get(names...)
	for name, cell := range r.fields.each {
		cell = strings.TrimSpace(cell)
		if slices.Contains(names, name) && cell != "" && netmask("", cell) != netmask("", value) {
			out.Problem = fmt.Sprintf("%s and %s have different values for the same field: keep one of these columns", shown(value), shown(cell))
		}
	}
	return value
}

// record returns a record that has all cells as fields.
func (r row) record() Record { return Record{ID: r.id, Fields: r.fields} }

// column returns a title in lower case with underscores.
func column(title string) string {
	title = strings.ToLower(strings.Trim(strings.TrimSpace(title), "*"))
	return strings.NewReplacer(" ", "_", "-", "_").Replace(title)
}

// column returns the name by which ipamctl knows a column. The mapping may define that name.
func (f File) column(title string) string {
	for name, theirs := range f.Columns {
		if column(theirs) == column(title) {
			return name
		}
	}
	return column(title)
}

// lines reads a CSV file strictly by RFC 4180. If a quotation mark is in a wrong position, it returns an error, because that mark can hide the rows
// after it.
type lines struct {
	File
	comma rune
	own   bool   // the file is ipamctl's export
	first int    // number of lines that the CSV reader does not get
	none  string // the text in a cell that has no value
	csv   *csv.Reader
}

// linesOf starts to read a file. Lines may end with CR LF or LF. If the file has no LF, they may end with CR.
func linesOf(f File) *lines {
	l := &lines{File: f, own: bytes.HasPrefix(f.head, []byte(ownHeader))}
	text, head := io.Reader(f.open()), f.head
	if l.own || f.lines == 0 {
		text = &carriageReturns{from: f.open(), own: l.own}
	}
	if f.lines == 0 {
		head = bytes.ReplaceAll(head, []byte("\r"), []byte("\n"))
	}
	if first, _, found := bytes.Cut(head, []byte("\n")); found && len(bytes.TrimSpace(first)) == len("sep=,") && bytes.HasPrefix(first, []byte("sep=")) {
		l.comma, l.first = rune(first[len("sep=")]), 1         // Excel declares the separator in such a line
		_, _ = io.CopyN(io.Discard, text, int64(len(first)+1)) // the next read returns the same error
	} else {
		l.comma = separator(head)
	}
	l.csv = csv.NewReader(text)
	l.csv.Comma, l.csv.FieldsPerRecord, l.csv.ReuseRecord = l.comma, -1, true
	return l
}

// next returns the next line that is not blank, with its number. The cells are valid only until the next call.
func (l *lines) next() (number int, cells []string, err error) {
	for {
		cells, err = l.csv.Read()
		if errors.Is(err, io.EOF) {
			return 0, nil, io.EOF
		}
		if err != nil {
			return 0, nil, l.misquoted(err)
		}
		number, _ = l.csv.FieldPos(0)
		number += l.first
		for at, cell := range cells {
			if hidden := l.hidden(cell, at, len(cells)); hidden != "" {
				return 0, nil, l.fault(at, "the quoted cell that starts here contains a line that looks like a row: %s", shown(hidden))
			}
		}
		if len(strings.TrimSpace(strings.Join(cells, ""))) > 0 {
			return number, cells, nil
		}
	}
}

// fault returns an error with a cell's position in the current line.
func (l *lines) fault(cell int, format string, args ...any) error {
	line, column := l.csv.FieldPos(cell)
	return fmt.Errorf("%s:%d:%d: "+format, append([]any{l.Name, line + l.first, column}, args...)...)
}

// misquoted returns the error for a quotation mark in a wrong position.
func (l *lines) misquoted(err error) error {
	fault, is := errors.AsType[*csv.ParseError](err)
	if !is {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	line, col := fault.Line+l.first, fault.Column
	switch {
	case errors.Is(fault.Err, csv.ErrBareQuote):
		return fmt.Errorf("%s:%d:%d: a quotation mark is within an unquoted cell: quote the whole cell and double the mark", l.Name, line, col)
	case errors.Is(fault.Err, csv.ErrQuote) && fault.StartLine != fault.Line:
		return fmt.Errorf("%s:%d: a quoted cell starts in this row and is not closed properly: the next misplaced quotation mark is in line %d, column %d",
			l.Name, fault.StartLine+l.first, line, col)
	case errors.Is(fault.Err, csv.ErrQuote):
		return fmt.Errorf("%s:%d:%d: a quoted cell is not closed, or text follows its closing mark: double a mark within a cell", l.Name, line, col)
	default:
		return fmt.Errorf("%s:%d:%d: %w", l.Name, line, col, fault.Err)
	}
}

// hidden returns a line in a quoted cell that looks like a row, or like the first or the last part of a row. Two stray quotation marks can hide the
// line ends between them. at is the cell's index. If the cell has no such line, hidden returns "".
func (l *lines) hidden(cell string, at, columns int) string {
	if !strings.Contains(cell, "\n") || l.own {
		return ""
	}
	comma, all := string(l.comma), strings.Split(cell, "\n")
	end := len(all) - 1
	fit := strings.Count(all[0], comma) == columns-at-1 && strings.Count(all[end], comma) == at // the cells around it complete both rows
	for n, line := range all {
		parts := strings.Split(line, comma)
		row := n > 0 && len(parts) >= max(columns-1, min(columns, 2))
		part := (n == 0 || n == end) && len(parts) > 1 && (fit || !strings.Contains(line, comma+" ")) // prose has a blank after a comma
		if (row || part) && slices.ContainsFunc(parts, isPlace) {
			return line
		}
	}
	return ""
}

// isPlace reports whether a cell contains only an address or a network.
func isPlace(cell string) bool {
	_, err := hostOf(strings.Trim(cell, "\" \r"))
	return err == nil
}

// separator returns the character that separates the titles in the first line.
func separator(text []byte) rune {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	best, count := ',', bytes.Count(first, []byte(","))
	for _, r := range ";\t|" {
		if n := bytes.Count(first, []byte(string(r))); n > count {
			best, count = r, n
		}
	}
	return best
}

// table is a CSV file whose first line has the column titles.
type table struct {
	*lines
	names  []string // the names by which ipamctl knows the columns
	titles []string // the titles in the file
	line   int      // the line that has the titles
	listed bool     // the table is in Reading.Lists
}

// has reports whether a table has a named column.
func (t *table) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(t.names, name) })
}

// addressLike matches a text that contains an address.
var addressLike = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:|::`)

// tableOf reads the titles. If a title contains an address, it returns an error, because the first line is probably a row. It also refuses an empty
// title before the last title that is not empty.
func tableOf(f File) (*table, error) {
	l := linesOf(f)
	number, cells, err := l.next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: it is empty", f.Name)
	}
	if err != nil {
		return nil, err
	}
	t := &table{lines: l, line: number}
	for at, title := range cells {
		switch blank := len(strings.TrimSpace(strings.Join(cells[at:], ""))) > 0 && strings.TrimSpace(title) == ""; {
		case addressLike.MatchString(title):
			return nil, l.fault(at, "%s contains an address, but the first line must contain the column titles", shown(title))
		case blank && at > 0:
			return nil, l.fault(at, "this column has no title")
		}
		t.names, t.titles = append(t.names, f.column(title)), append(t.titles, strings.TrimSpace(title))
	}
	return t, nil
}

// rows iterates over a table's rows. It refuses a row with more or fewer cells than titles, because the row was truncated or joined with another row.
func (t *table) rows(each func(row)) error {
	for {
		number, cells, err := t.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for len(cells) > len(t.names) && strings.TrimSpace(cells[len(cells)-1]) == "" {
			cells = cells[:len(cells)-1]
		}
		if len(cells) != len(t.names) {
			return t.fault(min(len(cells), len(t.names)+1)-1, "the row has %d cells, but there are %d titles: it is truncated, or two rows are in one line; write an empty cell for a missing value",
				len(cells), len(t.names))
		}
		for i, cell := range cells {
			cells[i] = show.CellMeant(cell)
			if t.none != "" && strings.TrimSpace(cell) == t.none {
				cells[i] = ""
			}
		}
		each(row{at(t.File, number), cellsOf(&t.names, cells)})
	}
}

// at returns a row's ID, which is its file and its line.
func at(f File, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(f.Name), line) }

var lineID = regexp.MustCompile(`:\d+(#\d+)?$`)

// OfLine reports whether an ID is only a file and a line. Such an ID does not identify the object, because it changes when earlier lines change.
func OfLine(id string) bool { return lineID.MatchString(id) && !strings.Contains(id, "/") }
