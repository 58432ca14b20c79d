package usecase

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A page ends after some thousand rows, even if no row matches. The first page already shows that the names do not exist. But only the last page may
// refuse them, because an item on a later page would prove that the names exist.
func TestMissingNameIsRefusedOnlyOnTheLastEmptyPage(t *testing.T) {
	t.Parallel()
	of := paging.ListOf("claims", "whose")
	at := func(name string) string { return paging.SealCursor(of, name) }
	for name, c := range map[string]struct {
		pages   []paging.Page[string]
		refused bool
	}{
		"NothingOnOnePage":    {[]paging.Page[string]{{}}, true},
		"NothingOnThreePages": {[]paging.Page[string]{{Next: at("e")}, {Next: at("k")}, {}}, true},
		"SomethingAtOnce":     {[]paging.Page[string]{{Items: []string{"a"}, Next: at("e")}, {Next: at("k")}, {}}, false},
		"SomethingLater":      {[]paging.Page[string]{{Next: at("e")}, {Items: []string{"f"}, Next: at("k")}, {}}, false},
		"SomethingAtTheEnd":   {[]paging.Page[string]{{Next: at("e")}, {Items: []string{"f"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cursor, err := "", error(nil)
			for i, want := range c.pages {
				var got paging.Page[string]
				got, err = OrUnknown[string, string](of, cursor, func() error { return ipam.Invalid("query:pool", "is wrong") }, func(cursor string) (paging.Page[string], error) {
					if i > 0 {
						require.Equal(t, c.pages[i-1].Next, cursor, "the list itself knows its own cursors alone")
					}
					return want, nil
				})
				if err != nil {
					require.Equal(t, len(c.pages)-1, i, "not before the last page")
					break
				}
				require.Equal(t, want.Items, got.Items)
				cursor = got.Next
			}
			require.Equal(t, c.refused, ipam.IsCode(err, ipam.CodeInvalidArgument), "%v", err)
		})
	}
}
