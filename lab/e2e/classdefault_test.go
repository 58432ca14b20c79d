package e2e

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

var moveDefault = query("moveDefault=true")

// Each address family has one default class. Only a request that explicitly asks for it may replace the default class.
func TestDefaultClass(t *testing.T) {
	t.Parallel()
	w := setup(t)
	spec := func() obj { return obj{"ipFamily": "IPv4", "defaultPrefixLength": 28, "isDefault": true} }
	defaults := func() (names []string) {
		for _, c := range all[client.IPClass](t, w.caller, at("classes")) {
			if c.Spec.IsDefault != nil && *c.Spec.IsDefault {
				names = append(names, c.Metadata.Name)
			}
		}
		return names
	}
	w.class(t, "first", spec())
	w.class(t, "plain", obj{"ipFamily": "IPv4", "defaultPrefixLength": 29})
	w.poolOf(t, project, "p", "10.0.0.0/16", "first", "plain")
	t.Run("IsNotReplacedByAccident", func(t *testing.T) {
		w.writesNothing(t, func() {
			for _, a := range []answer{
				w.do(t, http.MethodPost, at("classes"), named("second", spec())),
				w.do(t, http.MethodPatch, at("classes", "plain"), obj{"spec": obj{"isDefault": true}}, ifMatch("*")),
			} {
				p := w.refused(t, a, "already_exists", "/spec/isDefault")
				require.Equal(t, []string{project + "/first"}, p.ConflictsWith)
			}
		})
	})
	t.Run("IsSeparateForEachFamily", func(t *testing.T) {
		w.class(t, "six", obj{"ipFamily": "IPv6", "defaultPrefixLength": 64, "isDefault": true})
		require.Equal(t, []string{"first", "six"}, defaults())
	})
	t.Run("MovesWhenAskedTo", func(t *testing.T) {
		require.Equal(t, 28, bits(w.claim(t, "before", obj{}).Status.AllocatedCIDR))
		first := w.do(t, http.MethodGet, at("classes", "first"), nil)
		a := w.ok(t, w.do(t, http.MethodPatch, at("classes", "plain"), obj{"spec": obj{"isDefault": true}}, ifMatch("*"), moveDefault))
		require.Equal(t, a.etag(), w.do(t, http.MethodGet, at("classes", "plain"), nil).etag())
		require.NotEqual(t, first.etag(), w.do(t, http.MethodGet, at("classes", "first"), nil).etag(), "it has changed as well")
		require.Equal(t, []string{"plain", "six"}, defaults())
		require.Equal(t, 29, bits(w.claim(t, "after", obj{}).Status.AllocatedCIDR))
		require.Equal(t, "first", decode[client.IPClaim](t, w.do(t, http.MethodGet, at("claims", "before"), nil)).Status.ClassName)
	})
	t.Run("MovesToANewOne", func(t *testing.T) {
		w.writesNothing(t, func() {
			w.created(t, w.do(t, http.MethodPost, at("classes"), named("new", spec()), moveDefault, dryRun))
		})
		w.created(t, w.do(t, http.MethodPost, at("classes"), named("new", spec()), moveDefault, key("k")))
		require.Equal(t, []string{"new", "six"}, defaults())
		w.ok(t, w.do(t, http.MethodPatch, at("classes", "first"), obj{"spec": obj{"isDefault": true}}, ifMatch("*"), moveDefault))
		again := w.do(t, http.MethodPost, at("classes"), named("new", spec()), moveDefault, key("k"))
		require.Equal(t, http.StatusCreated, again.status)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.Equal(t, []string{"first", "six"}, defaults(), "a repeat moves nothing")
		w.refused(t, w.do(t, http.MethodPost, at("classes"), named("new", spec()), key("k")), "idempotency_mismatch")
	})
	t.Run("IsOneAfterConcurrentRequests", func(t *testing.T) {
		names := []string{"a", "b", "c", "d", "e", "f"}
		for _, name := range names {
			w.class(t, name, obj{"ipFamily": "IPv4"})
		}
		var wg sync.WaitGroup
		for _, name := range names {
			wg.Go(func() {
				a, err := w.try(t.Context(), t, http.MethodPatch, at("classes", name), obj{"spec": obj{"isDefault": true}}, ifMatch("*"), moveDefault)
				if err != nil || a.status != http.StatusOK {
					t.Errorf("%s: %d %s %v", name, a.status, a.body, err)
				}
			})
		}
		wg.Wait()
		require.Len(t, defaults(), 2)
	})
	t.Run("IsThePlatformsAfterItsRemoval", func(t *testing.T) {
		for _, name := range defaults() {
			w.ok(t, w.do(t, http.MethodPatch, at("classes", name), obj{"spec": obj{"isDefault": false}}, ifMatch("*")))
		}
		w.refused(t, w.postClaim(t, "x", obj{}), "no_default_class")
		w.classOf(t, "platform", "common", obj{"ipFamily": "IPv4", "defaultPrefixLength": 30, "isDefault": true, "visibility": "shared"})
		w.poolOf(t, "platform", "q", "10.1.0.0/16", "common")
		require.Equal(t, "platform", w.claim(t, "theirs", obj{}).Status.ClassProject)
	})
}
