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

// row is one line of a table: its cells, and the names of their columns in lower case with underscores.
type row struct {
	line   int
	fields Fields
}

// get is the first cell that is not empty of some columns.
func (r row) get(names ...string) string {
	for _, name := range names {
		if value := r.fields.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// record is a record that has all cells of the row as fields.
func (r row) record(f File) Record { return Record{ID: at(f, r.line), Fields: r.fields} }

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

// lines reads a CSV file by RFC 4180, strictly: a quotation mark that is out of place ends the reading, because it can hide the rows behind it.
type lines struct {
	File
	comma rune
	first int    // how many lines of the file stand before the text that the CSV reader sees
	none  string // a cell that shows that there is no value
	csv   *csv.Reader
}

// linesOf begins to read a file. Lines may end with CR LF, LF or, if there is no LF at all, CR.
func linesOf(f File) *lines {
	l := &lines{File: f}
	if !bytes.Contains(f.Text, []byte("\n")) {
		l.Text = bytes.ReplaceAll(f.Text, []byte("\r"), []byte("\n"))
	}
	text := l.Text
	if first, rest, found := bytes.Cut(text, []byte("\n")); found && len(bytes.TrimSpace(first)) == len("sep=,") && bytes.HasPrefix(first, []byte("sep=")) {
		l.comma, l.first, text = rune(first[len("sep=")]), 1, rest // as Excel declares the separator
	} else {
		l.comma = separator(text)
	}
	l.csv = csv.NewReader(bytes.NewReader(text))
	l.csv.Comma, l.csv.FieldsPerRecord, l.csv.ReuseRecord = l.comma, -1, true
	return l
}

// next is the next line that is not blank, with its number. The cells are good until the next call.
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
				return 0, nil, fmt.Errorf("%s:%d:%d: the quoted cell that begins there has a line that looks like a row: %s", l.Name, line+l.first, col, shown(hidden))
			}
		}
		if len(strings.TrimSpace(strings.Join(cells, ""))) > 0 {
			return number, cells, nil
		}
	}
}

// misquoted says where a quotation mark is out of place.
func (l *lines) misquoted(err error) error {
	fault, is := errors.AsType[*csv.ParseError](err)
	if !is {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	line, col := fault.Line+l.first, fault.Column
	switch why := "a quotation mark stands within a cell"; {
	case errors.Is(fault.Err, csv.ErrBareQuote):
		return fmt.Errorf("%s:%d:%d: %s: quote the whole cell and write the mark twice", l.Name, line, col, why)
	case errors.Is(fault.Err, csv.ErrQuote) && fault.StartLine != fault.Line:
		return fmt.Errorf("%s:%d: a quoted cell begins in this row and is not closed properly: the next quotation mark that does not fit is in line %d, column %d",
			l.Name, fault.StartLine+l.first, line, col)
	case errors.Is(fault.Err, csv.ErrQuote):
		return fmt.Errorf("%s:%d:%d: a quoted cell is not closed, or something follows its closing mark: write a mark within a cell twice", l.Name, line, col)
	default:
		return fmt.Errorf("%s:%d:%d: %w", l.Name, line, col, fault.Err)
	}
}

// hidden is a line within a quoted cell that would be a row of the table by itself: two stray marks can enclose rows.
func (l *lines) hidden(cell string, columns int) string {
	if !strings.Contains(cell, "\n") || bytes.HasPrefix(l.Text, []byte(ownHeader)) {
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

// separator is the character that stands between the titles of the first line.
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
	names  []string // the names by which the columns are known
	titles []string // as the file has them
	line   int
}

// has reports whether a table has one of some columns.
func (h *header) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(h.names, name) })
}

// addressLike is a text with an address in it.
var addressLike = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:|::`)

// header reads the titles. A row among them would be lost, so a title has no address in it, and no title is empty but the last ones.
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
			return nil, fmt.Errorf("%s:%d:%d: %s has an address, and the first line of a table has the titles of the columns", l.Name, line+l.first, col, shown(title))
		case blank && at > 0:
			return nil, fmt.Errorf("%s:%d:%d: this column has no title", l.Name, line+l.first, col)
		}
		h.names, h.titles = append(h.names, l.column(title)), append(h.titles, strings.TrimSpace(title))
	}
	return h, nil
}

// room makes room for the records of a file at once: a list that grows by copying needs twice the memory.
func (out *Reading) room(f File) {
	out.Records = slices.Grow(out.Records, bytes.Count(f.Text, []byte("\n")))
}

// rows goes through the rows of a table. Each has as many cells as there are titles: a row with more or fewer was cut, or joined with another one.
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
			return fmt.Errorf("%s:%d:%d: the row has %d cells, and there are %d titles: it was cut, or two rows are in one line; write an empty cell where there is no value",
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

// at is the ID of a line.
func at(f File, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(f.Name), line) }

var lineID = regexp.MustCompile(`:\d+(#\d+)?$`)

// OfLine reports whether an ID is that of a line. Such an ID says where the row was found, and not which row it is: it changes with the lines before.
func OfLine(id string) bool { return lineID.MatchString(id) && !strings.Contains(id, "/") }
