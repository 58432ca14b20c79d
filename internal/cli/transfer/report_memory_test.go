package transfer

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// peak is a writer that measures the reachable bytes while the second half of a text arrives.
type peak struct {
	to     strings.Builder
	after  int // bytes of the text before the measurement
	bytes  int
	before int
}

// Write implements io.Writer.
func (p *peak) Write(text []byte) (int, error) {
	p.to.Write(text)
	if p.bytes == 0 && p.to.Len() > p.after {
		bytes, _ := live()
		p.bytes = bytes - p.to.Cap()
	}
	return len(text), nil
}

// The report of an import is written row by row: it is never in memory as a whole.
func TestReportOfManyRowsIsWrittenWithoutMemoryForEachRow(t *testing.T) {
	const rows = 20_000
	reading, err := source.Read("csv", []source.File{{Name: "big", Text: strings.NewReader(csvRows(rows))}})
	require.NoError(t, err)
	w, err := desiredItems(rules.Preset("csv"), "p", &reading.Records)
	require.NoError(t, err)
	w.names()
	p := &plan{desired: w, states: map[string]*state{}}
	p.grow()
	out := account(w, true, false)
	document := func(format string) func(io.Writer) error {
		return func(to io.Writer) error {
			return show.DocumentOfList(&show.Printer{To: to, Output: format}, out, "items", out.lines)
		}
	}
	for name, c := range map[string]struct {
		write func(io.Writer) error
		read  func([]byte) ([]byte, error)
	}{
		"report": {func(to io.Writer) error { return show.WriteList(to, out, "items", out.lines) }, nil},
		"json":   {document(show.FormatJSON), nil},
		"yaml":   {document(show.FormatYAML), func(text []byte) ([]byte, error) { return show.JSONOf(text) }},
	} {
		t.Run(name, func(t *testing.T) {
			const maxBytes = 20
			measured := &peak{after: rows * 100}
			measured.to.Grow(rows * 400)
			measured.before, _ = live()
			measured.before -= measured.to.Cap()
			require.NoError(t, c.write(measured))
			require.NotZero(t, measured.bytes)
			require.LessOrEqual(t, (measured.bytes-measured.before)/rows, maxBytes, "bytes for each row")
			text := []byte(measured.to.String())
			if c.read != nil {
				text, err = c.read(text)
				require.NoError(t, err)
			}
			var doc struct {
				Rows   int
				Counts map[string]int
				Items  []reportRow
			}
			require.NoError(t, json.Unmarshal(text, &doc))
			require.Equal(t, rows+1, doc.Rows)
			require.Equal(t, map[string]int{outcomeCreate: rows + 1}, doc.Counts)
			require.Len(t, doc.Items, rows+1)
			require.Equal(t, "10.1.0.1", doc.Items[1].Block)
		})
	}
}
