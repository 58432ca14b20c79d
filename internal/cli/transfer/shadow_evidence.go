package transfer

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// missingTables identifies the tables in which a row was missing. The next pass compares them with its own tables.
type missingTables struct {
	Content string `json:"content"`
	Written string `json:"written"` // the times at which the files were written
}

// judgeEvidence decides whether the files prove that rows were removed. They prove nothing if an earlier pass also had another file, or if a file
// states that rows are missing. A single table proves nothing either, because a truncated table is valid too. The mirror therefore releases objects
// only after the same table was written a second time.
func (m *mirror) judgeEvidence(reading *source.Reading, v *view) (*view, error) {
	absent := slices.DeleteFunc(slices.Clone(m.lists), func(name string) bool { return slices.Contains(reading.Lists, name) })
	var why string
	var now *missingTables
	switch {
	case len(reading.Missing) > 0:
		why = reading.Missing[0]
	case len(absent) > 0:
		why = "no file has " + strings.Join(absent, ", ") + ", which an earlier pass had: give all files"
	case reading.Table:
		now = &missingTables{Content: reading.Sum, Written: m.written()}
		if last := m.lastNote().Missed; last != nil && last.Content == now.Content && last.Written != now.Written {
			return v, nil
		}
		why = fmt.Sprintf("the table no longer has %s, and may be truncated; the mirror releases the missing objects when the same table is written a second time",
			show.CountOf(len(v.releases), "thing"))
	default:
		return v, nil
	}
	held, err := m.settle(&reading.Records, protected{sure: map[string]bool{}, otherwise: "it waits for a second reading"})
	if err != nil {
		return nil, err
	}
	held.safety, held.missed = why, now
	return held, nil
}

// written returns the times at which the files were written. If a file still has the same time, it was not written again.
func (m *mirror) written() string {
	times := make([]string, len(m.paths))
	for n, path := range m.paths {
		when := m.Clock() // standard input counts as new each time
		if is, err := os.Stat(path); path != "-" && err == nil {
			when = is.ModTime()
		}
		times[n] = strconv.FormatInt(when.UnixNano(), 10)
	}
	return strings.Join(times, " ")
}

// lastNote returns the previous pass's result. If it cannot be read, lastNote returns an empty one, which releases nothing.
func (m *mirror) lastNote() (n passNote) {
	text := m.states[m.Project].Spaces["default"].Metadata.Annotations[shadowNote+m.name]
	if json.Unmarshal([]byte(text), &n) != nil {
		return passNote{}
	}
	return n
}

// announce lists the objects that are going to be released.
func (m *mirror) announce(gone []*item) {
	const limit = 50
	for n, e := range gone {
		if n == limit {
			m.Remark("and %d more are going to be released", len(gone)-limit)
			return
		}
		m.Remark("going to release %s %s in space %s: %s", e.where(), e.target(), e.space(), e.why)
	}
}
