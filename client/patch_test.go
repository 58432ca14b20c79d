package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/patch"
)

// changesOf returns the patch that a change of a project sends.
func changesOf(t *testing.T, change func(*client.Project)) string {
	t.Helper()
	project := client.Project{
		Metadata: client.Metadata{Name: "web", Revision: "r1", Labels: client.Labels{"app": "web", "old": "yes"}},
		Spec:     client.ProjectSpec{Description: "The shop"},
	}
	before, err := patch.Take(project)
	require.NoError(t, err)
	require.Equal(t, `"r1"`, before.IfMatch())
	change(&project)
	changes, err := before.Changes(project)
	require.NoError(t, err)
	return string(changes)
}

func TestPatchContainsOnlyChangedFields(t *testing.T) {
	t.Parallel()
	require.Empty(t, changesOf(t, func(*client.Project) {}))
	require.Empty(t, changesOf(t, func(c *client.Project) { c.Metadata.Annotations = client.Annotations{} }), "what is empty equals what is absent")
	require.JSONEq(t, `{"spec":{"description":"Ours"}}`, changesOf(t, func(c *client.Project) { c.Spec.Description = "Ours" }))
	require.JSONEq(t, `{"spec":{"description":null}}`, changesOf(t, func(c *client.Project) { c.Spec.Description = "" }))
	require.JSONEq(t, `{"metadata":{"labels":{"app":"db","old":null,"new":"1"}}}`, changesOf(t, func(c *client.Project) {
		c.Metadata.Labels = client.Labels{"new": "1", "app": "db"}
	}))
	_, err := patch.Take(client.Project{})
	require.ErrorContains(t, err, "metadata.revision")
	_, err = patch.Take("web")
	require.ErrorContains(t, err, "metadata.revision")
}

func TestUnchangedObjectSendsNoPatch(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lose(0, false)
	describe := func(p *client.IPPool) error {
		p.Spec.Description = "Production"
		return nil
	}
	pool, err := patch.Pool(w.Carve, "team-a", "prod").Change(t.Context(), describe)
	require.NoError(t, err)
	require.Equal(t, "Production", pool.Spec.Description)
	again, err := patch.Pool(w.Carve, "team-a", "prod").Change(t.Context(), describe)
	require.NoError(t, err)
	require.Equal(t, pool.Metadata.Revision, again.Metadata.Revision)
	var methods []string
	for _, r := range w.requests() {
		methods = append(methods, r.Method)
	}
	require.Equal(t, []string{http.MethodGet, http.MethodPatch, http.MethodGet}, methods)
}

// Sixteen goroutines increment one label. No increment is lost, because each patch requires the revision that its goroutine has read.
func TestChangeIsRetriedOnTheNewRevisionAfterAConflict(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, err := w.Claim(t.Context(), "team-a", "web", fromProd(24))
	require.NoError(t, err)
	count := func(c *client.IPClaim) error {
		n, _ := strconv.Atoi(c.Metadata.Labels["count"])
		if c.Metadata.Labels == nil {
			c.Metadata.Labels = client.Labels{}
		}
		c.Metadata.Labels["count"] = strconv.Itoa(n + 1)
		return nil
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, err := patch.Claim(w.Carve, "team-a", "web").Change(t.Context(), count)
			for client.IsConflict(err) {
				_, err = patch.Claim(w.Carve, "team-a", "web").Change(t.Context(), count)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, "16", w.claims(t)[0].Metadata.Labels["count"])
}

func TestPatchOfAStaleObjectIsAConflict(t *testing.T) {
	t.Parallel()
	w := setup(t)
	team, spaces := patch.Project(w.Carve, "team-a"), patch.Space(w.Carve, "team-a", "default")
	project, err := team.Get(t.Context())
	require.NoError(t, err)
	before, err := patch.Take(project)
	require.NoError(t, err)
	_, err = team.Send(t.Context(), "*", json.RawMessage(`{"spec":{"description":"Theirs"}}`))
	require.NoError(t, err)
	project.Spec.Description = "Ours"
	_, err = team.Patch(t.Context(), before, project)
	require.True(t, client.IsConflict(err), "%v", err)

	wrong := errors.New("no")
	_, err = spaces.Change(t.Context(), func(*client.Space) error { return wrong })
	require.ErrorIs(t, err, wrong)
	space, err := spaces.Change(t.Context(), func(s *client.Space) error {
		s.Spec.Description = "Everything"
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "Everything", space.Spec.Description)
	_, err = patch.Class(w.Carve, "team-a", "nothing").Change(t.Context(), func(*client.IPClass) error { return nil })
	require.True(t, client.IsNotFound(err), "%v", err)
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = spaces.Get(ended)
	require.ErrorIs(t, err, context.Canceled)
}
