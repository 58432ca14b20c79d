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

// The memory of an import grows by a bounded number of bytes and objects for each row: 200,000 rows and the program fit into 200 MB. A map, or a
// string for each cell, would exceed these bounds.
func TestImportRowsUseFewBytesAndObjects(t *testing.T) {
	const rows = 20_000
	for of, text := range map[string]string{"csv": csvRows(rows), "netbox": netboxRows(rows)} {
		t.Run(of, func(t *testing.T) {
			const maxBytes, maxObjects = 480, 4
			bytes, objects := live()
			reading, err := source.Read(of, []source.File{{Name: "big", Text: strings.NewReader(text)}})
			require.NoError(t, err)
			w, err := desiredItems(rules.Preset(of), "p", &reading.Records)
			require.NoError(t, err)
			w.names()
			p := &plan{desired: w, states: map[string]*state{}}
			p.grow()
			out := account(w, false, true)
			moreBytes, moreObjects := live()
			require.Equal(t, map[string]int{outcomeLeft: rows + 1}, out.Counts)
			require.LessOrEqual(t, (moreBytes-bytes)/rows, maxBytes, "bytes for each row")
			require.LessOrEqual(t, (moreObjects-objects)/rows, maxObjects, "objects for each row")
			runtime.KeepAlive(w)
			runtime.KeepAlive(p)
		})
	}
}

// csvRows returns a table of a network and many addresses.
func csvRows(rows int) string {
	var text strings.Builder
	text.WriteString("cidr,name,status,description,owner,mac\n10.0.0.0/8,all,active,everything,,\n")
	for n := range rows {
		at := fmt.Sprintf("10.1.%d.%d", n/250, 1+n%250)
		fmt.Fprintf(&text, "%s,host-%d.example.net,active,server %d in a rack,team-%d,00:50:56:00:%02x:%02x\n", at, n, n, n%50, n/250, n%250)
	}
	return text.String()
}

// netboxRows returns a page of NetBox with a network and many addresses.
func netboxRows(rows int) string {
	var text strings.Builder
	text.WriteString(`{"results":[{"id":1,"url":"https://nb.example.net/api/ipam/prefixes/1/","prefix":"10.0.0.0/8"}`)
	for n := range rows {
		fmt.Fprintf(&text, `,{"id":%d,"url":"https://nb.example.net/api/ipam/ip-addresses/%d/","address":"10.1.%d.%d/24","status":{"value":"active"},`+
			`"tenant":{"id":1,"name":"team-%d"},"dns_name":"host-%d.example.net","description":"server %d in a rack","tags":[{"id":3,"name":"old"}],`+
			`"custom_fields":{"asset":"A%d","owner":"o-%d"}}`, n+2, n+2, n/250, 1+n%250, n%50, n, n, n, n%20)
	}
	return text.String() + "]}"
}

// live counts the reachable bytes and objects.
func live() (bytes, objects int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), int(m.HeapObjects)
}
