package show

import (
	"bytes"
	"encoding/csv"
	"io"
	"regexp"
	"strings"
)

// formula matches a cell that a spreadsheet would compute. There may be apostrophes before the formula.
var formula = regexp.MustCompile(`^'*[=+\-@\t\r]`)

// IsFormula reports whether a spreadsheet would compute a cell after its leading apostrophes are removed.
func IsFormula(cell string) bool { return formula.MatchString(cell) }

// CellText puts an apostrophe before a cell that a spreadsheet would compute. The spreadsheet then shows the cell as text. The console has the same
// function (console/src/pages/transfer-csv.ts).
func CellText(cell string) string {
	if IsFormula(cell) {
		return "'" + cell
	}
	return cell
}

// CellMeant removes the apostrophe that CellText adds. It removes no other apostrophe.
func CellMeant(cell string) string {
	if rest, marked := strings.CutPrefix(cell, "'"); marked && IsFormula(rest) {
		return rest
	}
	return cell
}

// Sheet writes a CSV file (RFC 4180). All CSV output here uses it, so that no file has a cell that a spreadsheet computes.
type Sheet struct {
	text bytes.Buffer
	rows *csv.Writer
}

// SheetTo returns a sheet that writes its rows to a file and does not keep the whole file in memory. The caller must call End, which writes the last
// rows.
func SheetTo(w io.Writer) *Sheet {
	return &Sheet{rows: csv.NewWriter(w)} //nolint:forbidigo // CellText marks every cell
}

// End writes the remaining rows and returns the first write error.
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
	_ = s.rows.Write(marked) // a buffer never fails, and End reports a file's errors
}

// Bytes returns the rows that were added so far.
func (s *Sheet) Bytes() []byte {
	if s.rows != nil {
		s.rows.Flush()
	}
	return s.text.Bytes()
}
