package alloc_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func generated(name, from string) ipam.Metadata {
	return ipam.Metadata{Name: name, GeneratedFrom: from}
}

func TestTakenGeneratedNameIsRegenerated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("web-1", "net", 32))
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("web-1")}, usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("web-1", "10.1.0.0/24"))
	_, err = b.CreateProject(b.ctx, ipam.Project{Metadata: meta("web-1")}, usecase.Request{})
	require.NoError(t, err)
	taken := func(c ipam.Claim) ipam.Claim {
		c.Metadata = generated("web-1", "web-")
		return c
	}
	for name, run := range map[string]func() (string, error){
		"Claim": func() (string, error) {
			r, err := b.CreateClaim(b.ctx, project, taken(claim("", "net", 32)), key("claim", ""))
			return r.Value.Name, err
		},
		"Batch": func() (string, error) {
			r, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("other", "net", 32), taken(claim("", "net", 32))}, key("batch", ""))
			if err != nil {
				return "", err
			}
			return r.Value[1].Name, nil
		},
		"Pool": func() (string, error) {
			p := child("", "net", 28)
			p.Metadata = generated("web-1", "web-")
			r, err := b.CreatePool(b.ctx, project, p, key("pool", ""))
			return r.Value.Name, err
		},
		"Space": func() (string, error) {
			r, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: generated("web-1", "web-")}, key("space", ""))
			return r.Value.Name, err
		},
		"Project": func() (string, error) {
			r, err := b.CreateProject(b.ctx, ipam.Project{Metadata: generated("web-1", "web-")}, key("project", ""))
			return r.Value.Name, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := run()
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(got, "web-") && got != "web-1", got)
			again, err := run()
			require.NoError(t, err)
			require.Equal(t, got, again, "a repeat gets the name that was found")
		})
	}
}

func TestGeneratedNameTakenInTheSameGroupIsRegenerated(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	c := claim("", "net", 32)
	c.Metadata = generated("web-1", "web-")
	g.queue(t, g.claiming(c, usecase.Request{}), g.claiming(c, usecase.Request{}))
	late := g.finish()
	require.NoError(t, late[0].err)
	require.NoError(t, late[1].err)
	require.Equal(t, "web-1", late[0].claim.Name)
	require.NotEqual(t, "web-1", late[1].claim.Name)
}
