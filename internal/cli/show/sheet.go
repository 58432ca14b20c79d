package show

import (
	"bytes"
	"encoding/csv"
	"io"
	"regexp"
	"strings"
)

// formula matches a cell that a spreadsheet computes, with the apostrophes that stand before it.
var formula = regexp.MustCompile(`^'*[=+\-@\t\r]`)

// IsFormula reports whether a spreadsheet would compute a cell, or would do so without the apostrophe at its beginning.
func IsFormula(cell string) bool { return formula.MatchString(cell) }

// CellText puts an apostrophe before a cell that a spreadsheet would compute, which makes it a text. The console does the same
// (console/src/pages/transfer-csv.ts).
func CellText(cell string) string {
	if IsFormula(cell) {
		return "'" + cell
	}
	return cell
}

// CellMeant takes the apostrophe of CellText away, and no other.
func CellMeant(cell string) string {
	if rest, marked := strings.CutPrefix(cell, "'"); marked && IsFormula(rest) {
		return rest
	}
	return cell
}

// Sheet collects the rows of a CSV file (RFC 4180). It is the only writer of CSV here, so no file has a cell that a spreadsheet computes.
type Sheet struct {
	text bytes.Buffer
	rows *csv.Writer
}

// SheetTo is a sheet whose rows go to a file, so that a long one is never held whole. End writes the last of them.
func SheetTo(w io.Writer) *Sheet {
	return &Sheet{rows: csv.NewWriter(w)} //nolint:forbidigo // CellText marks every cell
}

// End writes what is left, and reports whether the file took everything.
func (s *Sheet) End() error {
	s.rows.Flush()
	return s.rows.Error()
}

// Row adds a row.
func (s *Sheet) Row(cells ...string) {
	if s.rows == nil {
		s.rows = csv.NewWriter(&s.text) //nolint:forbidigo // CellText marks every cell
	}
	marked := make([]string, len(cells))
	for i, cell := range cells {
		marked[i] = CellText(cell)
	}
	_ = s.rows.Write(marked) // a buffer takes everything, and End reports what a file did not take
}

// Bytes answers the rows so far.
func (s *Sheet) Bytes() []byte {
	if s.rows != nil {
		s.rows.Flush()
	}
	return s.text.Bytes()
}
