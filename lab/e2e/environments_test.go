package e2e

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// The same manifest, byte for byte, works in environments with different classes. The classes of each environment decide the outcome.
func TestOneManifestInEveryEnvironment(t *testing.T) {
	t.Parallel()
	w := setupKeys(t)
	environments := []string{"staging", "production", "sandbox"}
	for _, name := range environments {
		w.newProject(t, name)
	}
	w.classOf(t, "staging", "small", obj{"ipFamily": "IPv4", "defaultPrefixLength": 28, "isDefault": true})
	w.classOf(t, "staging", "network", obj{"ipFamily": "IPv4", "defaultPrefixLength": 29})
	w.classOf(t, "production", "large", obj{"ipFamily": "IPv4", "defaultPrefixLength": 24, "reclaimPolicy": "Retain", "isDefault": true})
	w.classOf(t, "platform", "everyday", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "visibility": "shared", "isDefault": true})
	w.classOf(t, "platform", "network", obj{"ipFamily": "IPv4", "defaultPrefixLength": 27, "visibility": "shared"})
	w.poolOf(t, "staging", "one", "10.1.0.0/16", "small", "network")
	w.poolOf(t, "production", "one", "10.2.0.0/16", "large")
	w.poolOf(t, "platform", "one", "10.3.0.0/16", "everyday", "network")

	for _, tc := range []struct {
		promise, manifest string
		blocks, classes   []string // by environment
	}{
		{
			"NamesNothing", `{"metadata":{"name":"node-17"},"spec":{}}`,
			[]string{"10.1.0.0/28", "10.2.0.0/24", "10.3.0.0/26"}, []string{"staging/small", "production/large", "platform/everyday"},
		},
		{
			"NamesAClass", `{"metadata":{"name":"node-18"},"spec":{"className":"network"}}`,
			[]string{"10.1.0.16/29", "10.3.0.64/27", "10.3.0.96/27"}, []string{"staging/network", "platform/network", "platform/network"},
		},
	} {
		t.Run(tc.promise, func(t *testing.T) {
			for i, environment := range environments {
				consumer := w.as(w.newKey(t, environment, "deploys-"+strings.ToLower(tc.promise), "consumer"))
				claim := decode[client.IPClaim](t, consumer.created(t, consumer.do(t, http.MethodPost, in(environment, "claims"), []byte(tc.manifest))))
				require.Equal(t, tc.blocks[i], claim.Status.AllocatedCIDR)
				require.Equal(t, tc.classes[i], claim.Status.ClassProject+"/"+claim.Status.ClassName)
				want := map[string]client.ReclaimPolicy{"production/large": "Retain"}[tc.classes[i]]
				require.Equal(t, cmp.Or(want, "Delete"), claim.Status.ReclaimPolicy)
				require.Empty(t, claim.Spec.ReclaimPolicy, "the manifest says none")
			}
		})
	}
}
