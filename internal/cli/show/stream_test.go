package show_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/show"
)

func row(cells ...string) []string { return cells }

func columnsOf(titles ...string) (out []show.Column) {
	for i, title := range titles {
		out = append(out, show.Column{Title: title, Cell: show.CellOf(func(r []string) string { return r[i] })})
	}
	return out
}

func printer(width int) (p *show.Printer, out, aside *bytes.Buffer) {
	out, aside = &bytes.Buffer{}, &bytes.Buffer{}
	return &show.Printer{To: out, Aside: aside, Output: show.FormatTable, Width: width, Hide: func(s string) string { return s }}, out, aside
}

func TestStreamedRowsFitTheTerminal(t *testing.T) {
	t.Parallel()
	p, out, aside := printer(40)
	s := show.Stream{Printer: p, Columns: columnsOf("ACTION", "NAME", "CIDR", "DETAIL")}
	require.NoError(t, s.Rows([]any{row("created", "a", "10.0.0.0/8", "")}))
	require.NoError(t, s.Rows([]any{row("changed", "b", "10.0.0.0/8", strings.Repeat("long ", 20))}))
	require.Equal(t, "ACTION    NAME   CIDR         DETAIL\ncreated   a      10.0.0.0/8   -\nchanged   b      10.0.0.0/8   long long…\n", out.String())
	require.Empty(t, aside.String())

	p, out, aside = printer(25)
	s = show.Stream{Printer: p, Columns: columnsOf("ACTION", "NAME", "CIDR", "DETAIL")}
	require.NoError(t, s.Rows([]any{row("created", "a", "10.0.0.0/8", strings.Repeat("long ", 20))}))
	require.Equal(t, "ACTION    NAME   CIDR\ncreated   a      10.0.0.…\n", out.String())
	require.Equal(t, "1 column did not fit: use -o csv, -o json or a wider terminal to see all columns\n", aside.String())
}

func TestTableDropsEmptyColumnsBeforeCutting(t *testing.T) {
	t.Parallel()
	columns := columnsOf("NAME", "CIDR", "DRAIN", "LABELS", "UID")
	rows := [][]string{row("prod", "10.0.0.0/8", "", "env=prod", "c4e99332"), row("lab", "10.1.0.0/16", "-", "", "9679d20c")}
	for width, want := range map[int]string{
		0:  "NAME   CIDR          DRAIN   LABELS     UID",
		80: "NAME   CIDR          DRAIN   LABELS     UID",
		42: "NAME   CIDR          LABELS     UID",
		30: "NAME   CIDR          LABELS",
	} {
		p, out, aside := printer(width)
		require.NoError(t, p.Write(show.Table(p, columns, rows)))
		title, _, _ := strings.Cut(out.String(), "\n")
		require.Equal(t, want, title)
		for line := range strings.SplitSeq(out.String(), "\n") {
			require.True(t, width == 0 || utf8.RuneCountInString(line) <= width, line)
		}
		require.Equal(t, width == 30, strings.Contains(aside.String(), "1 column did not fit"))
	}
}
