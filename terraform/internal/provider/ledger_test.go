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
		"one resource keeps it":                         {[]step{{keeps, "one"}, {keeps, "one"}}, false},
		"two resources keep it":                         {[]step{{keeps, "one"}, {keeps, "two"}}, true},
		"two resources create it":                       {[]step{{makes, ""}, {makes, ""}}, true},
		"one destroys it and another one creates it":    {[]step{{leaves, "one"}, {makes, ""}}, true},
		"one creates it and another one destroys it":    {[]step{{makes, ""}, {leaves, "one"}}, true},
		"one keeps it and another one creates it":       {[]step{{keeps, "one"}, {makes, ""}}, true},
		"one resource replaces it":                      {[]step{{leaves, "one"}, {makes, "one"}}, false},
		"one resource replaces it as the user asked":    {[]step{{keeps, "one"}, {makes, "one"}}, false},
		"two resources destroy it":                      {[]step{{leaves, "one"}, {leaves, "two"}}, false},
		"one replaces it and another one creates it":    {[]step{{leaves, "one"}, {makes, "one"}, {makes, ""}}, true},
		"one resource without a state of it creates it": {[]step{{makes, ""}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger()
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

func TestLedgerLeavesACreatedObjectToItsResource(t *testing.T) {
	t.Parallel()
	const path = "/v1/projects/a/claims/web"
	l := newLedger()
	require.NoError(t, l.plan(planned{entry: entry{intent: makes}, path: path}))
	require.NoError(t, l.begin(path, "new", "claim a/web"))
	require.Error(t, l.begin(path, "another", "claim a/web"))
	require.NoError(t, l.plan(planned{entry: entry{intent: leaves}, path: path, token: "old"}))
	assert.True(t, l.taken(path, "old"))
	assert.False(t, l.taken(path, "new"))
	l.end(path, "new")
	assert.False(t, l.taken(path, "old"))
}

func TestLedgerRefusesToKeepAnObjectInADestroyedContainer(t *testing.T) {
	t.Parallel()
	pool, granted := "/v1/projects/a/pools/p", "/v1/projects/a/pools/p/grants/b"
	kept := planned{entry: entry{intent: keeps}, path: granted, token: "grant", within: containers(granted)}
	for name, container := range map[string]planned{
		"destroyed": {entry: entry{intent: leaves}, path: pool, token: "pool"},
		"replaced":  {entry: entry{intent: makes, replaces: true}, path: pool, token: "pool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, order := range [][]planned{{kept, container}, {container, kept}} {
				l := newLedger()
				require.NoError(t, l.plan(order[0]))
				require.Error(t, l.plan(order[1]))
			}
		})
	}
	l := newLedger()
	require.NoError(t, l.plan(kept))
	require.NoError(t, l.plan(planned{entry: entry{intent: makes}, path: pool}), "a container that is taken over again is not destroyed")
	assert.Equal(t, []string{"/v1/projects/a", pool}, containers(granted))
}
