package installed_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/carve-ipam/carve/controller/internal/cluster"
)

// right is a rule of the chart.
type right struct {
	Why             string `json:"why"`
	With            string `json:"with"`
	rbac.PolicyRule `json:",inline"`
}

// rights are all rules of the chart.
type rights struct {
	Cluster   []right `json:"cluster"`
	Namespace []right `json:"namespace"`
}

func given(t *testing.T) (r rights) {
	t.Helper()
	text, err := os.ReadFile(cluster.Root("helm/carve-controller/rights.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &r))
	require.NotEmpty(t, r.Cluster)
	require.NotEmpty(t, r.Namespace)
	return r
}

func rules(of []right) (all []rbac.PolicyRule) {
	for _, each := range of {
		all = append(all, each.PolicyRule)
	}
	return all
}

// request is an entry in the API server's audit log.
type request struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	Object struct {
		Resource, Namespace, Name, APIGroup, Subresource string
	} `json:"objectRef"`
	Answer meta.Status `json:"responseStatus"`
}

func (r request) resource() string {
	if r.Object.Subresource != "" {
		return r.Object.Resource + "/" + r.Object.Subresource
	}
	return r.Object.Resource
}

// askedBy returns the requests of a ServiceAccount for objects.
func askedBy(t *testing.T, account string) (all []request) {
	t.Helper()
	file, err := os.Open(world.asked)
	require.NoError(t, err)
	defer func() { assert.NoError(t, file.Close()) }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.User.Username == account && r.Object.Resource != "" { // the last line may be incomplete
			all = append(all, r)
		}
	}
	require.NoError(t, lines.Err())
	return all
}

// allows reports whether a rule permits a request with a verb.
func allows(r rbac.PolicyRule, q request, verb string) bool {
	return q.Verb == verb && slices.Contains(r.APIGroups, q.Object.APIGroup) && slices.Contains(r.Resources, q.resource()) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, q.Object.Name))
}

// TestRightsAreSufficientAndAllUsed performs all actions of the program. It compares the program's requests to the API server with its rights.
func TestRightsAreSufficientAndAllUsed(t *testing.T) {
	s := begin(t, given(t))
	p := s.start("--publish=configmaps,secrets", "--publish-node-slices", "--cluster-api", "--reconcile-interval=1s")
	for _, does := range everything {
		t.Run(does.name, func(t *testing.T) { does.in(s.of(t)) })
	}
	p.stop()

	all := askedBy(t, s.account())
	for _, q := range all {
		assert.NotEqual(t, int32(403), q.Answer.Code, "%s of %s/%s is not among the rights", q.Verb, q.Object.APIGroup, q.resource())
	}
	assert.False(t, strings.Contains(p.log(), "forbidden"), "something is forbidden, by the log") //nolint:testifylint // the log is long
	for scope, of := range map[string][]right{"": given(t).Cluster, s.name: given(t).Namespace} {
		for _, r := range of {
			assert.NotEmpty(t, r.Why, "%v: a right without a reason", r)
			for _, verb := range r.Verbs {
				if strings.HasSuffix(r.Resources[0], "/finalizers") {
					continue // no request uses it directly: the plugin OwnerReferencesPermissionEnforcement, which is on, requires it for owner references
				}
				used := slices.ContainsFunc(all, func(q request) bool {
					return (scope == "" || q.Object.Namespace == scope) &&
						// A watch may begin with a list or receive the existing objects, as the API server decides.
						(allows(r.PolicyRule, q, verb) || verb == "list" && allows(r.PolicyRule, q, "watch"))
				})
				assert.True(t, used, "the right to %s %v %s is given, and nothing uses it", verb, r.Resources, r.Why)
			}
		}
	}
}

// TestMissingRightIsReported is the counterpart: without a right the program cannot work, and reports that.
func TestMissingRightIsReported(t *testing.T) {
	of := given(t)
	of.Cluster = slices.DeleteFunc(of.Cluster, func(r right) bool { return slices.Contains(r.Resources, "ipclaims/status") })
	s := begin(t, of)
	p := s.start()
	claim := s.claim("web", one)
	s.eventually("it says what it may not", func() bool { return strings.Contains(p.log(), `cannot patch resource \"ipclaims/status\"`) })
	s.get(claim)
	require.Empty(t, claim.Status.CIDR)
	refused := slices.ContainsFunc(askedBy(t, s.account()), func(q request) bool { return q.Answer.Code == 403 && q.resource() == "ipclaims/status" })
	require.True(t, refused)
}
