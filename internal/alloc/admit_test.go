package alloc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestUnauthorizedChangeIsRecordedInTheTrail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		role     tenancy.Role
		action   tenancy.Action
		on       string
		origin   tenancy.Origin
		code     ipam.Code
		trail    string // "": none
		kind, of string
	}{
		{"TooSmallARole", tenancy.Viewer, tenancy.ClaimsWrite, project, tenancy.Origin{Operation: "deleteClaim", Resource: "web"}, ipam.CodePermissionDenied, project, "IPClaim", "web"},
		{"Stranger", "", tenancy.MembersWrite, project, tenancy.Origin{Operation: "putMember", Resource: "corp:mallory"}, ipam.CodeNotFound, project, "Member", "corp:mallory"},
		{"MissingProject", tenancy.Admin, tenancy.PoolsWrite, "none", tenancy.Origin{Operation: "createPool"}, ipam.CodeNotFound, ipam.PlatformProject, "IPPool", ""},
		{"ImpossibleName", tenancy.Admin, tenancy.PoolsWrite, "\x00'; --", tenancy.Origin{Operation: "createPool", Resource: "\x00"}, ipam.CodeNotFound, ipam.PlatformProject, "IPPool", ""},
		{"CreateProject", tenancy.Admin, tenancy.ProjectsCreate, "", tenancy.Origin{Operation: "createProject"}, ipam.CodePermissionDenied, ipam.PlatformProject, "Project", ""},
		{"DeleteProject", tenancy.Admin, tenancy.ProjectsDelete, project, tenancy.Origin{Operation: "deleteProject"}, ipam.CodePermissionDenied, project, "Project", project},
		{"PatchProject", tenancy.Viewer, tenancy.ProjectsWrite, project, tenancy.Origin{Operation: "patchProject"}, ipam.CodePermissionDenied, project, "Project", project},
		{"GrantOfAPool", tenancy.Viewer, tenancy.GrantsWrite, project, tenancy.Origin{Operation: "putPoolGrant", Resource: "net"}, ipam.CodePermissionDenied, project, "PoolGrant", "net"},
		{"GrantOfASpace", tenancy.Viewer, tenancy.GrantsWrite, project, tenancy.Origin{Operation: "deleteSpaceGrant", Resource: "blue"}, ipam.CodePermissionDenied, project, "SpaceGrant", "blue"},
		{"Space", tenancy.Viewer, tenancy.SpacesWrite, project, tenancy.Origin{}, ipam.CodePermissionDenied, project, "Space", ""},
		{"Allocation", tenancy.Viewer, tenancy.AllocationsWrite, project, tenancy.Origin{}, ipam.CodePermissionDenied, project, "IPAllocation", ""},
		{"Key", tenancy.Provider, tenancy.KeysWrite, project, tenancy.Origin{}, ipam.CodePermissionDenied, project, "ApiKey", ""},
		{"Quota", tenancy.Provider, tenancy.QuotasWrite, project, tenancy.Origin{}, ipam.CodePermissionDenied, project, "Quota", ""},
		{"ReadIsNotRecorded", tenancy.Viewer, tenancy.MembersRead, project, tenancy.Origin{}, ipam.CodePermissionDenied, "", "", ""},
		{"ReadByAStrangerIsNotRecorded", "", tenancy.PoolsRead, project, tenancy.Origin{}, ipam.CodeNotFound, "", "", ""},
		{"AllowedChangeIsNotRecorded", tenancy.Consumer, tenancy.ClaimsWrite, project, tenancy.Origin{}, "", "", "", ""},
		{"WhoamiIsNotRecorded", "", tenancy.Whoami, "", tenancy.Origin{}, "", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			before := b.dump(t)
			who := tenancy.Principal{Subject: "corp:mallory", Method: "oidc"}
			if c.role != "" {
				who.Roles = map[string]tenancy.Role{project: c.role}
			}
			ctx := tenancy.WithOrigin(tenancy.WithPrincipal(t.Context(), who), c.origin)
			_, plain := tenancy.Authorize(ctx, c.action, c.on)
			err := b.Admit(ctx, c.action, c.on)
			require.Equal(t, plain, err, "recorded or not, the answer is the same")
			require.Equal(t, c.code, ipam.CodeOf(err))
			if c.trail == "" {
				require.Equal(t, before, b.dump(t))
				return
			}
			got := b.events(t, c.trail, trail.EventFilter{Subject: "corp:mallory"})
			require.Len(t, got, 1)
			e := got[0]
			require.Equal(t, []any{"oidc", c.origin.Operation, c.kind, c.of, string(c.code), b.clock.read()}, []any{e.Method, e.Operation, e.Kind, e.Name, e.Outcome, e.At})
			require.Nil(t, e.Before)
			require.Nil(t, e.After)
			require.Len(t, b.dump(t)["audit_events"], len(before["audit_events"])+1)
			require.Equal(t, state(before), state(b.dump(t)))
		})
	}
}

func TestUnauthenticatedCallerIsNotRecorded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.dump(t)
	refused(t, b.Admit(t.Context(), tenancy.ClaimsWrite, project), ipam.CodeUnauthenticated)
	require.Equal(t, before, b.dump(t))
}

// counting is a store that counts its transactions and its reads of projects.
type counting struct {
	storage.Store
	asked int
	fails error
}

func (c *counting) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	c.asked++
	if c.fails != nil {
		return c.fails
	}
	return c.Store.InTx(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error { return fn(ctx, countingTx{tx, c}) })
}

func (c *counting) ProjectGet(ctx context.Context, name string) (ipam.Project, error) {
	c.asked++
	return c.Store.ProjectGet(ctx, name)
}

type countingTx struct {
	storage.Tx
	c *counting
}

func (t countingTx) ProjectGet(ctx context.Context, name string) (ipam.Project, error) {
	t.c.asked++
	return t.Tx.ProjectGet(ctx, name)
}

func (t countingTx) ProjectListNamed(ctx context.Context, names []string) ([]ipam.Project, error) {
	t.c.asked++
	return t.Tx.ProjectListNamed(ctx, names)
}

func (t countingTx) Write(ctx context.Context, ch storage.Changes) error {
	t.c.asked++
	return t.Tx.Write(ctx, ch)
}

// A refusal for an existing project needs as many database requests as a refusal for a missing project. So its duration does not reveal whether the
// project exists.
func TestRefusalCostsEqualQueriesForExistingAndMissingProjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	asked := map[string]int{}
	for _, name := range []string{project, "none", "Not a name"} {
		c := &counting{Store: store}
		stranger := tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "corp:mallory"})
		refused(t, b.serve(c).Admit(stranger, tenancy.PoolsWrite, name), ipam.CodeNotFound)
		asked[name] = c.asked
	}
	require.Equal(t, map[string]int{project: 3, "none": 3, "Not a name": 3}, asked)
}

func TestRefusalIsReturnedWhenTheTrailCannotBeWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	broken := ipam.Errorf(ipam.CodeUnavailable, "The database is out of reach.")
	s := b.serve(&counting{Store: store, fails: broken})
	err := s.Admit(b.acting("corp:mallory", tenancy.Viewer, project), tenancy.PoolsWrite, project)
	require.Equal(t, ipam.CodePermissionDenied, refused(t, err, ipam.CodePermissionDenied).Code)
	require.ErrorIs(t, err, error(broken), "for the log")
	require.NotContains(t, refused(t, err, ipam.CodePermissionDenied).Message, "reach")
}
