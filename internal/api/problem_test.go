package api

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/docs/problems"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The same error codes must be in package ipam, in this package's table, in the contract and in the pages.
func TestErrorCodesAgreeEverywhere(t *testing.T) {
	t.Parallel()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	schema := doc.Components.Schemas["ProblemCode"].Value

	var known, inTable, inContract []string
	for _, c := range ipam.Codes() {
		known = append(known, string(c))
	}
	for c := range kinds {
		inTable = append(inTable, string(c))
	}
	for _, v := range schema.Enum {
		c, ok := v.(string)
		require.True(t, ok)
		inContract = append(inContract, c)
	}
	slices.Sort(known)
	slices.Sort(inTable)
	slices.Sort(inContract)
	require.Equal(t, known, inTable)
	require.Equal(t, known, inContract)
	require.Equal(t, known, problems.Codes())

	documented := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]{3}) \\|").FindAllStringSubmatch(schema.Description, -1)
	require.Len(t, documented, len(known))
	for _, row := range documented {
		require.Equal(t, row[2], strconv.Itoa(kinds[ipam.Code(row[1])].status), row[1])
	}
}

func TestEveryProblemPageHasItsSections(t *testing.T) {
	t.Parallel()
	for code, k := range kinds {
		text, ok := problems.Page(string(code))
		require.True(t, ok, code)
		parts := strings.Split(text, "\n\n")
		require.Len(t, parts, 8, code)
		require.Equal(t, "# "+k.title, parts[0])
		require.Equal(t, "`"+string(code)+"`, status "+strconv.Itoa(k.status), parts[1])
		require.Equal(t, "## Meaning", parts[2])
		require.Equal(t, "## For the caller", parts[4])
		require.Equal(t, "## For the operator", parts[6])
	}
}
