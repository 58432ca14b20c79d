package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestParseMatch(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]usecase.Match{
		`*`:               {Any: true},
		` * `:             {Any: true},
		`"a"`:             {Revisions: []string{"a"}},
		`"a", "b","c d"`:  {Revisions: []string{"a", "b", "c d"}},
		`"a,b"`:           {Revisions: []string{"a,b"}},
		`W/"a"`:           {Revisions: []string{`W/"a"`}},
		`""`:              {Revisions: []string{""}},
		"\"a\" , W/\"b\"": {Revisions: []string{"a", `W/"b"`}},
	} {
		got, err := parseMatch(contract.IfMatch, &header)
		require.NoError(t, err, header)
		require.Equal(t, want, got, header)
	}
	for _, header := range []string{"", "a", `"a`, `a"`, `"a""b"`, `"a",`, `,"a"`, `w/"a"`, `*,"a"`, `"a",*`, `W/a`} {
		_, err := parseMatch(contract.IfMatch, &header)
		require.True(t, ipam.IsCode(err, ipam.CodeInvalidArgument), header)
	}
}

func TestWeakTagsMatchNothing(t *testing.T) {
	t.Parallel()
	revision := ipam.NewID()
	weak, strong := "W/"+etag(revision), etag(revision)

	m, err := parseMatch(contract.IfMatch, &weak)
	require.NoError(t, err)
	require.True(t, ipam.IsCode(m.Check(revision), ipam.CodePreconditionFailed))

	m, err = parseMatch(contract.IfMatch, &strong)
	require.NoError(t, err)
	require.NoError(t, m.Check(revision))
}

func TestStalePreconditionReturnsTheCurrentTag(t *testing.T) {
	t.Parallel()
	revision, stale := ipam.NewID(), `"x"`
	m, err := parseMatch(contract.IfMatch, &stale)
	require.NoError(t, err)
	var e *ipam.Error
	require.ErrorAs(t, m.Check(revision), &e)
	h := map[string][]string{}
	setErrorHeaders(h, 412, e)
	require.Equal(t, []string{etag(revision)}, h["Etag"])
}
