package show_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/show"
)

func TestDocumentOfListEqualsDocumentOfAllItems(t *testing.T) {
	type item struct {
		Name string   `json:"name"`
		Tags []string `json:"tags,omitempty"`
	}
	head := map[string]any{"count": 2, "counts": map[string]int{"a": 1}}
	for _, items := range [][]item{{}, {{Name: "one"}}, {{Name: "two\nlines: \u202e", Tags: []string{"<x>", "- y", "a\n\nb"}}, {Name: "null"}, {Name: "last", Tags: []string{""}}}} {
		for _, format := range []string{show.FormatJSON, show.FormatYAML, show.FormatJSONPath + "={.items[*].name} {.count}"} {
			t.Run(fmt.Sprintf("%d %s", len(items), format), func(t *testing.T) {
				printed := func(write func(*show.Printer) error) string {
					var b bytes.Buffer
					p := &show.Printer{To: &b}
					require.NoError(t, show.Format{P: p}.Set(format))
					require.NoError(t, write(p))
					return b.String()
				}
				whole, err := show.Marshal(struct {
					Count  int            `json:"count"`
					Counts map[string]int `json:"counts"`
					Items  []item         `json:"items"`
				}{2, map[string]int{"a": 1}, items})
				require.NoError(t, err)
				want := printed(func(p *show.Printer) error { return p.Document(whole) })
				got := printed(func(p *show.Printer) error { return show.DocumentOfList(p, head, "items", slices.Values(items)) })
				require.Equal(t, want, got)
			})
		}
	}
}
