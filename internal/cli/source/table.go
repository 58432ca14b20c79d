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

// row is one line of a table. The names of its columns are in lower case with underscores.
type row struct {
	line   int
	fields Fields
}

// get returns the first cell of the named columns that is not empty.
func (r row) get(names ...string) string {
	for _, name := range names {
		if value := r.fields.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// record returns a record that has all cells of the row as fields.
func (r row) record(f File) Record { return Record{ID: at(f, r.line), Fields: r.fields} }

// column returns the title of a column in lower case with underscores.
func column(title string) string {
	title = strings.ToLower(strings.Trim(strings.TrimSpace(title), "*"))
	return strings.NewReplacer(" ", "_", "-", "_").Replace(title)
}

// column returns the name by which ipamctl knows a column of the file. The mapping may define that name.
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
	own   bool   // the file is an export of ipamctl
	first int    // number of lines before the text that the CSV reader gets
	none  string // the text of a cell that has no value
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
			if hidden := l.hidden(cell, len(cells)); hidden != "" {
				line, col := l.csv.FieldPos(at)
				return 0, nil, fmt.Errorf("%s:%d:%d: the quoted cell that starts here contains a line that looks like a row: %s", l.Name, line+l.first, col, shown(hidden))
			}
		}
		if len(strings.TrimSpace(strings.Join(cells, ""))) > 0 {
			return number, cells, nil
		}
	}
}

// misquoted returns the error for a quotation mark in a wrong position.
func (l *lines) misquoted(err error) error {
	fault, is := errors.AsType[*csv.ParseError](err)
	if !is {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	line, col := fault.Line+l.first, fault.Column
	switch why := "a quotation mark is within an unquoted cell"; {
	case errors.Is(fault.Err, csv.ErrBareQuote):
		return fmt.Errorf("%s:%d:%d: %s: quote the whole cell and double the mark", l.Name, line, col, why)
	case errors.Is(fault.Err, csv.ErrQuote) && fault.StartLine != fault.Line:
		return fmt.Errorf("%s:%d: a quoted cell starts in this row and is not closed properly: the next misplaced quotation mark is in line %d, column %d",
			l.Name, fault.StartLine+l.first, line, col)
	case errors.Is(fault.Err, csv.ErrQuote):
		return fmt.Errorf("%s:%d:%d: a quoted cell is not closed, or text follows its closing mark: double a mark within a cell", l.Name, line, col)
	default:
		return fmt.Errorf("%s:%d:%d: %w", l.Name, line, col, fault.Err)
	}
}

// hidden returns a line of a quoted cell that looks like a row of the table. Two stray quotation marks can hide the rows between them. If the cell
// has no such line, hidden returns "".
func (l *lines) hidden(cell string, columns int) string {
	if !strings.Contains(cell, "\n") || l.own {
		return ""
	}
	for line := range strings.SplitSeq(cell[strings.Index(cell, "\n")+1:], "\n") {
		parts := strings.Split(line, string(l.comma))
		if len(parts) >= max(columns-1, min(columns, 2)) && slices.ContainsFunc(parts, func(part string) bool { _, err := hostOf(strings.Trim(part, `" `)); return err == nil }) {
			return line
		}
	}
	return ""
}

// separator returns the character that separates the titles in the first line.
func separator(text []byte) rune {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	best, most := ',', bytes.Count(first, []byte(","))
	for _, r := range ";\t|" {
		if n := bytes.Count(first, []byte(string(r))); n > most {
			best, most = r, n
		}
	}
	return best
}

// header is the first line of a table.
type header struct {
	names  []string // the names by which ipamctl knows the columns
	titles []string // the titles in the file
	line   int
}

// has reports whether a table has one of the named columns.
func (h *header) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(h.names, name) })
}

// addressLike matches a text that contains an address.
var addressLike = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:|::`)

// header reads the titles. If a title contains an address, it returns an error, because the first line is probably a row. It also refuses an empty
// title before the last title that is not empty.
func (l *lines) header() (*header, error) {
	number, cells, err := l.next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: it is empty", l.Name)
	}
	if err != nil {
		return nil, err
	}
	h := &header{line: number}
	for at, title := range cells {
		line, col := l.csv.FieldPos(at)
		switch blank := len(strings.TrimSpace(strings.Join(cells[at:], ""))) > 0 && strings.TrimSpace(title) == ""; {
		case addressLike.MatchString(title):
			return nil, fmt.Errorf("%s:%d:%d: %s contains an address, but the first line must contain the column titles", l.Name, line+l.first, col, shown(title))
		case blank && at > 0:
			return nil, fmt.Errorf("%s:%d:%d: this column has no title", l.Name, line+l.first, col)
		}
		h.names, h.titles = append(h.names, l.column(title)), append(h.titles, strings.TrimSpace(title))
	}
	return h, nil
}

// rows iterates over the rows of a table. It refuses a row with more or fewer cells than titles, because the row was truncated or joined with another
// row.
func (l *lines) rows(h *header, each func(row)) error {
	for {
		number, cells, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for len(cells) > len(h.names) && strings.TrimSpace(cells[len(cells)-1]) == "" {
			cells = cells[:len(cells)-1]
		}
		if len(cells) != len(h.names) {
			at := min(len(cells), len(h.names)+1) - 1
			line, col := l.csv.FieldPos(at)
			return fmt.Errorf("%s:%d:%d: the row has %d cells, but there are %d titles: it is truncated, or two rows are in one line; write an empty cell for a missing value",
				l.Name, line+l.first, col, len(cells), len(h.names))
		}
		for i, cell := range cells {
			cells[i] = show.CellMeant(cell)
			if l.none != "" && strings.TrimSpace(cell) == l.none {
				cells[i] = ""
			}
		}
		each(row{number, cellsOf(&h.names, cells)})
	}
}

// at returns the ID of a row, which is its file and its line.
func at(f File, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(f.Name), line) }

var lineID = regexp.MustCompile(`:\d+(#\d+)?$`)

// OfLine reports whether an ID is only a file and a line. Such an ID does not identify the object, because it changes when earlier lines change.
func OfLine(id string) bool { return lineID.MatchString(id) && !strings.Contains(id, "/") }
