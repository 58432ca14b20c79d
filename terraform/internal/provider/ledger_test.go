package provider

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLedgerRefusesTwoResourcesWithOneObject(t *testing.T) {
	t.Parallel()
	const path = "/v1/projects/a/claims/web"
	type step struct {
		intent intent
		token  string
	}
	for name, c := range map[string]struct {
		steps   []step
		refused bool
	}{
		"one resource keeps it":                         {[]step{{intentKeep, "one"}, {intentKeep, "one"}}, false},
		"two resources keep it":                         {[]step{{intentKeep, "one"}, {intentKeep, "two"}}, true},
		"one keeps it and another one destroys it":      {[]step{{intentKeep, "one"}, {intentRelease, "two"}}, true},
		"one destroys it and another one keeps it":      {[]step{{intentRelease, "one"}, {intentKeep, "two"}}, true},
		"two resources create it":                       {[]step{{intentCreate, ""}, {intentCreate, ""}}, true},
		"one destroys it and another one creates it":    {[]step{{intentRelease, "one"}, {intentCreate, ""}}, true},
		"one creates it and another one destroys it":    {[]step{{intentCreate, ""}, {intentRelease, "one"}}, true},
		"one keeps it and another one creates it":       {[]step{{intentKeep, "one"}, {intentCreate, ""}}, true},
		"one resource replaces it":                      {[]step{{intentRelease, "one"}, {intentCreate, "one"}}, false},
		"one resource replaces it as the user asked":    {[]step{{intentKeep, "one"}, {intentCreate, "one"}}, false},
		"two resources destroy it":                      {[]step{{intentRelease, "one"}, {intentRelease, "two"}}, false},
		"one replaces it and another one creates it":    {[]step{{intentRelease, "one"}, {intentCreate, "one"}, {intentCreate, ""}}, true},
		"one resource without a state of it creates it": {[]step{{intentCreate, ""}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newRegistry()
			var err error
			for _, s := range c.steps {
				if failed := l.plan(planned{entry: entry{intent: s.intent}, path: path, token: s.token}); failed != nil {
					err = failed
				}
			}
			assert.Equal(t, c.refused, err != nil, "%v", err)
		})
	}
}

// TestLedgerPrefersTheResourceWithTheObjectsMark plans for an object whose mark is "now". An import copies the mark.
func TestLedgerPrefersTheResourceWithTheObjectsMark(t *testing.T) {
	t.Parallel()
	const path = "/v1/projects/a/claims/web"
	for _, intents := range [][2]intent{{intentKeep, intentRelease}, {intentRelease, intentKeep}, {intentKeep, intentKeep}} {
		for mark, refused := range map[string]bool{"former": false, "now": true, "": true} {
			l := newRegistry()
			require.NoError(t, l.plan(planned{entry: entry{intent: intents[0], mark: mark}, path: path, token: "one"}))
			err := l.prefer(planned{entry: entry{intent: intents[1], mark: "now"}, path: path, token: "two"})
			assert.Equal(t, refused, err != nil, "%v with the mark %q: %v", intents, mark, err)
		}
	}
}

func TestLedgerLeavesACreatedObjectToItsResource(t *testing.T) {
	t.Parallel()
	const path = "/v1/projects/a/claims/web"
	l := newRegistry()
	require.NoError(t, l.plan(planned{entry: entry{intent: intentCreate}, path: path}))
	require.NoError(t, l.begin(path, "new", "claim a/web"))
	require.Error(t, l.begin(path, "another", "claim a/web"))
	require.NoError(t, l.plan(planned{entry: entry{intent: intentRelease}, path: path, token: "old"}))
	assert.True(t, l.taken(path, "old"))
	assert.False(t, l.taken(path, "new"))
	l.end(path, "new")
	assert.False(t, l.taken(path, "old"))
}

func TestLedgerRefusesToKeepAnObjectInADestroyedContainer(t *testing.T) {
	t.Parallel()
	pool, granted := "/v1/projects/a/pools/p", "/v1/projects/a/pools/p/grants/b"
	kept := planned{entry: entry{intent: intentKeep}, path: granted, token: "grant", within: containers(granted)}
	for name, container := range map[string]planned{
		"destroyed": {entry: entry{intent: intentRelease}, path: pool, token: "pool"},
		"replaced":  {entry: entry{intent: intentCreate, replaces: true}, path: pool, token: "pool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, order := range [][]planned{{kept, container}, {container, kept}} {
				l := newRegistry()
				require.NoError(t, l.plan(order[0]))
				require.Error(t, l.plan(order[1]))
			}
		})
	}
	l := newRegistry()
	require.NoError(t, l.plan(kept))
	require.NoError(t, l.plan(planned{entry: entry{intent: intentCreate}, path: pool}), "a container that is taken over again is not destroyed")
	assert.Equal(t, []string{"/v1/projects/a", pool}, containers(granted))
}
