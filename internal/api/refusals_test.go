package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// clerk counts the refused requests that Admit would record.
type clerk struct {
	*scripted
	recorded int
}

func (c *clerk) Admit(ctx context.Context, action tenancy.Action, project string) error {
	_, err := tenancy.Authorize(ctx, action, project)
	if err != nil && tenancy.Recorded(ctx) {
		c.recorded++
	}
	return err
}

func TestRecordedRefusalsAreRateLimited(t *testing.T) {
	t.Parallel()
	use := &clerk{scripted: script()}
	l := limit(t, use) // alice may make 4 writes at once; the audit trail takes 2 records at once, then one a second
	refuse := func(who string) {
		t.Helper()
		problem(t, l.ask(t, who, here, "DELETE", "/v1/projects/team-b/pools/p"), http.StatusNotFound, gen.ProblemCodeNotFound)
	}
	for range 4 {
		refuse("alice")
	}
	require.Equal(t, 2, use.recorded, "the answer stays the same, the record does not grow with it")
	refuse("bob")
	require.Equal(t, 3, use.recorded, "others are recorded")
	l.pass(time.Second)
	refuse("alice")
	refuse("alice")
	require.Equal(t, 4, use.recorded)
	require.Equal(t, http.StatusNoContent, l.ask(t, "bob", here, "DELETE", poolsPath+"/p").Code, "what is allowed costs nothing of it")
}
