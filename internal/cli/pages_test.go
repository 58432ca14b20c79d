package cli_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// claimPage returns a page of claims with these names.
func claimPage(t *testing.T, next string, names ...string) reply {
	t.Helper()
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = strings.ReplaceAll(string(example(t, "IPClaim")), `"name":"web-eu"`, `"name":"`+name+`"`)
	}
	text := fmt.Sprintf(`{"items":[%s]`, strings.Join(items, ","))
	if next != "" {
		text += `,"nextCursor":"` + next + `"`
	}
	return ok(json.RawMessage(text + "}"))
}

func query(t *testing.T, s sent, name string) string {
	t.Helper()
	u, err := url.Parse(s.uri)
	require.NoError(t, err)
	return u.Query().Get(name)
}

func TestListIsReadToItsEndAcrossEmptyPages(t *testing.T) {
	t.Parallel()
	d := answering(t, claimPage(t, "c1", "a", "b"), claimPage(t, "c2"), claimPage(t, "", "c"))
	r := d.done("claim", "list", "-o", "name")
	require.Equal(t, "a\nb\nc\n", r.out)
	require.Equal(t, "c2", query(t, d.requests()[2], "cursor"))
}

func TestLimitedListPrintsItsNextCursor(t *testing.T) {
	t.Parallel()
	d := answering(t, claimPage(t, "c1", "a", "b"), claimPage(t, "c2", "c"))
	r := d.done("claim", "list", "-o", "name", "--limit", "3")
	require.Equal(t, "a\nb\nc\n", r.out)
	require.Equal(t, "there is more: --cursor c2\n", r.err)
	require.Equal(t, "3", query(t, d.requests()[0], "limit"))
	require.Equal(t, "1", query(t, d.requests()[1], "limit"))

	d = answering(t, claimPage(t, "c1", "a"))
	var l struct{ NextCursor string }
	require.NoError(t, json.Unmarshal([]byte(d.done("claim", "list", "-o", "json", "--limit", "1").out), &l))
	require.Equal(t, "c1", l.NextCursor)
}

func TestFreeBlocksOfAllPagesHaveOneSummary(t *testing.T) {
	t.Parallel()
	summary := `"summary":[{"prefixLength":17,"freeBlocks":"1","available":"1"},{"prefixLength":18,"freeBlocks":"0","available":"2"},{"prefixLength":19,"freeBlocks":"1","available":"5"}]`
	d := answering(t,
		ok(json.RawMessage(`{`+summary+`,"items":[{"cidr":"10.20.128.0/17"}],"nextCursor":"c1"}`)),
		ok(json.RawMessage(`{`+summary+`,"items":[{"cidr":"10.20.32.0/19"}]}`)))
	r := d.done("pool", "free", "prod-eu", "--prefix-length", "18")
	require.Equal(t, "LENGTH   FREE BLOCKS   COULD BE CLAIMED\n/17      1             1\n/18      0             2\n/19      1             5\n\n"+
		"FREE BLOCK\n10.20.128.0/17\n10.20.32.0/19\n", r.out)
	require.Equal(t, "18", query(t, d.requests()[0], "prefixLength"))
}

func TestFullPoolReportsThatNothingIsFree(t *testing.T) {
	t.Parallel()
	r := answering(t, ok(json.RawMessage(`{"summary":[],"items":[]}`))).done("pool", "free", "prod-eu")
	require.Empty(t, r.out)
	require.Equal(t, "no block is free\n", r.err)
}
