package show

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestWrapBreaksParagraphsAndKeepsLists(t *testing.T) {
	t.Parallel()
	text := "One paragraph that somebody wrote\nin two lines of the source.\n\n  first:16     the first sixteen addresses of it\n  last\n\nEnd: /a-word-that-is-longer-than-the-line"
	require.Equal(t, "One paragraph that\nsomebody wrote in two\nlines of the source.\n\n  first:16     the\n  first sixteen\n  addresses of it\n  last\n\nEnd:\n/a-word-that-is-longer-than-the-line",
		Wrap(text, 22))
	require.Equal(t, "One paragraph that somebody wrote in two lines of the source.", strings.Split(Wrap(text, 200), "\n")[0])
}

func TestNarrowTableCutsProtectedColumnsLast(t *testing.T) {
	t.Parallel()
	const block = "2001:db8:1234:5678::/64"
	columns := []Column{
		{Title: " ", Cell: func(any) string { return "+" }},
		{Title: "ROW", Cell: func(any) string { return "network.csv:2" }},
		{Title: "BLOCK", NeverCut: true, Cell: CellOf(strings.Clone)},
		{Title: "OUTCOME", Cell: func(any) string { return "to create" }},
		{Title: "IN CARVE", Cell: func(any) string { return "pool/a-rather-long-name-of-a-network" }},
	}
	for _, width := range []int{60, 80, 100} {
		text := Table(&Printer{Width: width, To: &bytes.Buffer{}}, columns, []string{block})
		require.Contains(t, string(text), block, width)
		for line := range strings.Lines(string(text)) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width)
		}
	}
}
