package acceptance_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pathOf returns the path of a resource's object in the API.
func pathOf(t testing.TB, r thing) string {
	t.Helper()
	parts, kind := strings.Split(r.id, "/"), r.kind()
	switch kind {
	case "project":
		return "/v1/projects/" + r.id
	case "grant":
		return "/v1/projects/" + parts[0] + "/" + parts[1] + "/" + parts[2] + "/grants/" + parts[3]
	case "consumer_attachment":
		return "/v1/projects/" + parts[0] + "/claims/" + parts[1] + "/consumers/" + parts[3] + "?realm=" + parts[2]
	case "consumer":
		return "/v1/projects/" + parts[0] + "/realms/" + parts[1] + "/consumers/" + parts[2]
	}
	collection := map[string]string{
		"space": "spaces", "pool": "pools", "class": "classes", "claim": "claims", "quota": "quotas", "member": "members", "api_key": "api-keys",
		"alert_rule": "alert-rules", "webhook": "webhooks",
	}[kind]
	require.NotEmpty(t, collection, kind)
	return "/v1/projects/" + parts[0] + "/" + collection + "/" + strings.Join(parts[1:], "/")
}

// kind returns the kind of a resource without the prefix "carve_".
func (r thing) kind() string {
	address := r.address
	if at := strings.LastIndex(address, "carve_"); at >= 0 {
		address = address[at+len("carve_"):]
	}
	kind, _, _ := strings.Cut(address, ".")
	return kind
}

// attached reports whether an attachment exists on the server. The API has only a list of a claim's consumers.
func (f *folder) attached(path string) bool {
	f.t.Helper()
	list, rest, _ := strings.Cut(path, "/consumers/")
	uid, realm, _ := strings.Cut(rest, "?realm=")
	status, document := f.server.get(f.t, list+"/consumers?limit=500")
	require.Equal(f.t, http.StatusOK, status, path)
	items, _ := document["items"].([]any)
	return slices.ContainsFunc(items, func(item any) bool {
		found, _ := item.(map[string]any)
		return found["uid"] == uid && found["realm"] == realm
	})
}

// agrees checks that the objects on the server are equal to the objects in the state. It also checks that no two resources have the same object or
// block.
func (f *folder) agrees() {
	f.t.Helper()
	objects, blocks := map[string]string{}, map[string]string{}
	for _, r := range f.state() {
		if r.kind() == r.address {
			continue // another provider's resource
		}
		path := pathOf(f.t, r)
		require.Empty(f.t, objects[path], "%s and %s hold %s", objects[path], r.address, path)
		objects[path] = r.address
		if r.kind() == "consumer_attachment" {
			require.True(f.t, f.attached(path), "%s is in the state, and the server has no %s", r.address, path)
			continue
		}
		status, document := f.server.get(f.t, path)
		require.Equal(f.t, http.StatusOK, status, "%s is in the state, and the server has no %s", r.address, path)
		metadata, _ := document["metadata"].(map[string]any)
		if r.kind() != "consumer" {
			require.Equal(f.t, metadata["uid"], r.values["uid"], r.address)
		}
		answered, _ := document["status"].(map[string]any)
		require.NotEqual(f.t, "Ended", answered["phase"], r.address)
		if r.kind() == "claim" {
			block, _ := r.values["cidr"].(string)
			project, _ := metadata["project"].(string)
			require.Equal(f.t, answered["allocatedCIDR"], block, r.address)
			require.Empty(f.t, blocks[project+" "+block], "%s and %s have %s", blocks[project+" "+block], r.address, block)
			blocks[project+" "+block] = r.address
		}
	}
}
