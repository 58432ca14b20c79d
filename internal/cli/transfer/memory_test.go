package transfer

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// The memory of an import grows with its rows, and by a bounded number of bytes and objects for each: 200,000 rows fit into 200 MB with the
// program itself. A map, or a string for each cell, would exceed these bounds.
func TestRowsOfAnImportHoldFewBytesAndObjects(t *testing.T) {
	const rows, mostBytes, mostObjects = 20_000, 620, 6
	var text strings.Builder
	text.WriteString("cidr,name,status,description,owner,mac\n10.0.0.0/8,all,active,everything,,\n")
	for n := range rows {
		at := fmt.Sprintf("10.1.%d.%d", n/250, 1+n%250)
		fmt.Fprintf(&text, "%s,host-%d.example.net,active,server %d in a rack,team-%d,00:50:56:00:%02x:%02x\n", at, n, n, n%50, n/250, n%250)
	}
	bytes, objects := live()
	reading, err := source.Read("csv", []source.File{{Name: "big.csv", Text: []byte(text.String())}})
	require.NoError(t, err)
	w, err := wish(rules.Preset("csv"), "p", reading.Records)
	require.NoError(t, err)
	w.names()
	p := &plan{wishes: w, states: map[string]*state{}}
	p.grow()
	out := account(w, false, true, func(out *report, line reportRow) bool { return !out.plain(line) && line.Outcome != outcomeLeft })
	moreBytes, moreObjects := live()
	require.Equal(t, map[string]int{outcomeLeft: rows + 1}, out.Counts)
	require.LessOrEqual(t, (moreBytes-bytes)/rows, mostBytes, "bytes for each row")
	require.LessOrEqual(t, (moreObjects-objects)/rows, mostObjects, "objects for each row")
	runtime.KeepAlive(w)
	runtime.KeepAlive(p)
}

// live counts the bytes and the objects that are reachable.
func live() (bytes, objects int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), int(m.HeapObjects)
}
