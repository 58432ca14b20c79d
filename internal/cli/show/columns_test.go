package show

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestColumnsFormatFieldsByTheirType(t *testing.T) {
	t.Parallel()
	type spec struct {
		Length *int
		Count  *int64
		Labels client.Labels
		Words  []string
		At     *time.Time
		Ref    *client.ResolvedRef
		Share  float64
		Yes    bool
	}
	type object struct {
		Metadata client.Metadata
		Spec     *spec
	}
	columns, more := columnsOf(reflect.TypeFor[object](), `
		LENGTH: spec.length
		COUNT: spec.count, wide
		LABELS: spec.labels
		WORDS: spec.words
		AT: spec.at, or never
		REF: spec.ref
		SHARE: spec.share, bar
		YES: spec.yes
		OWN: own
		NAME: metadata.name, more`, Cells[object]{"own": func(o object) string { return "own of " + o.Metadata.Name }}.ofAny())
	cells := func(o object) []string { return WordsOf(columns, func(c Column) string { return c.Cell(o) }) }
	at := time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
	require.Equal(t, []string{"/24", "7", "a=1,b=2", "x,y", "2026-03-03T12:00:00Z", "name", "12.50%", "yes", "own of o"}, cells(object{
		client.Metadata{Name: "o", Project: "home"},
		&spec{new(24), new(int64(7)), client.Labels{"b": "2", "a": "1"}, []string{"x", "y"}, &at, &client.ResolvedRef{Project: "home", Name: "name"}, 12.5, true},
	}))
	require.Equal(t, "other/name", columns[5].Cell(object{Spec: &spec{Ref: &client.ResolvedRef{Project: "other", Name: "name"}}}))
	require.Equal(t, []string{"", "", "", "", "never", "", "", "", "own of "}, cells(object{}))
	require.True(t, columns[1].Wide)
	require.True(t, columns[6].Bar)
	require.Equal(t, "NAME", more[0].Title)
	require.PanicsWithValue(t, "show.object has no field spec.lenght", func() { Columns[object]("LENGTH: spec.lenght", nil) })
}
