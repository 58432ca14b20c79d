package oidc

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

const sample = `issuers:
  - name: corp
    url: https://login.example.com/
    audience: carve
    algorithms: [RS256, ES256]
    subjectClaim: email
    clockSkew: 10s
    caFile: ca.pem
    roles:
      - {claim: groups, value: netops, project: platform, role: admin}
      - {claim: /realm_access/roles, pattern: "carve-(?P<project>[a-z0-9-]+)-(?P<role>[a-z]+)"}
  - name: ci
    url: http://127.0.0.1:9000
    audience: carve
`

func TestLoadReadsTheConfigurationFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "oidc.yaml")
	require.NoError(t, os.WriteFile(path, []byte(sample), 0o600))
	_, err := Load(path)
	require.ErrorContains(t, err, "ca.pem", "a file that is not there stops the start")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.pem"), []byte("hello"), 0o600))
	_, err = Load(path)
	require.ErrorContains(t, err, "no certificate")

	server := httptest.NewTLSServer(nil)
	t.Cleanup(server.Close)
	writeCA(t, filepath.Join(dir, "ca.pem"), server)
	c, err := Load(path)
	require.NoError(t, err)
	require.Len(t, c.Issuers, 2)
	require.Equal(t, filepath.Join(dir, "ca.pem"), c.Issuers[0].CAFile, "beside the file that names it")
	require.Equal(t, 10*time.Second, c.Issuers[0].ClockSkew)
	require.Equal(t, Issuer{
		Name: "ci", URL: "http://127.0.0.1:9000", Audience: "carve",
		Algorithms: []string{"RS256", "ES256", "EdDSA"}, SubjectClaim: "sub", ClockSkew: 30 * time.Second,
	}, c.Issuers[1])
	_, err = Load(filepath.Join(dir, "none.yaml"))
	require.Error(t, err)
}

func writeCA(t *testing.T, path string, s *httptest.Server) {
	t.Helper()
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	require.NoError(t, os.WriteFile(path, block, 0o600))
}

func TestIssuerIsVerifiedByItsCA(t *testing.T) {
	t.Parallel()
	key := elliptical("one")
	p := &provider{}
	server := httptest.NewTLSServer(p)
	t.Cleanup(server.Close)
	p.url = server.URL
	p.publish(key)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	writeCA(t, ca, server)

	known := p.conf("corp")
	known.CAFile = ca
	_, err := verifier(t, nil, known).Authenticate(t.Context(), p.token(key, nil))
	require.NoError(t, err)
	_, err = verifier(t, nil, p.conf("corp")).Authenticate(t.Context(), p.token(key, nil))
	require.Equal(t, ipam.CodeUnavailable, ipam.CodeOf(err), "nobody vouches for this certificate")
}

func TestInvalidConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	_, err := parse(strings.NewReader(sample))
	require.NoError(t, err, "the control")
	for name, tc := range map[string]struct{ from, to, wrong string }{
		"UnknownField":           {"audience: carve\n    alg", "audiences: carve\n    alg", "audiences"},
		"UnknownFieldOfARule":    {"value: netops", "values: netops", "values"},
		"FieldTwice":             {"name: corp", "name: corp\n    name: corp2", "already defined"},
		"TwoDocuments":           {"issuers:\n", "---\nissuers:\n- {name: a, url: https://a.example, audience: a}\n---\nissuers:\n", "more than one document"},
		"Nothing":                {sample, "", "issuers is empty"},
		"InvalidName":            {"name: corp", "name: Corp Inc", "DNS label"},
		"NameOfAPIKeys":          {"name: corp", "name: key", "API keys"},
		"NameOfTheService":       {"name: corp", "name: carve", "the service itself"},
		"NameTwice":              {"name: ci", "name: corp", "another issuer"},
		"URLTwice":               {"http://127.0.0.1:9000", "https://login.example.com/", "another issuer"},
		"PlainHTTP":              {"https://login", "http://login", "https URL"},
		"URLWithAQuery":          {".com/\n", ".com/?x=1\n", "https URL"},
		"NoAudience":             {"    audience: carve\n    algorithms", "    algorithms", "audience is missing"},
		"SymmetricAlgorithm":     {"[RS256, ES256]", "[RS256, HS256]", "HS256"},
		"NoneAlgorithm":          {"[RS256, ES256]", "[none]", "none"},
		"SkewOfAnHour":           {"10s", "1h", "clockSkew"},
		"NegativeSkew":           {"10s", "-10s", "clockSkew"},
		"RuleWithoutClaim":       {"claim: groups, ", "", "claim is missing"},
		"RuleWithoutValue":       {"value: netops, ", "", "either value or pattern"},
		"RuleWithBoth":           {"value: netops", "value: netops, pattern: x", "either value or pattern"},
		"RuleWithoutProject":     {"project: platform, ", "", "project is missing"},
		"RuleWithUnknownRole":    {"role: admin", "role: root", "not one of"},
		"RuleWithWrongProject":   {"project: platform", "project: Platform!", "DNS label"},
		"InvalidPattern":         {"carve-(?P", "carve-((?P", "pattern"},
		"PatternWithoutRole":     {"(?P<role>[a-z]+)", "[a-z]+", "role is missing"},
		"PatternAndRoleConflict": {`[a-z]+)"}`, `[a-z]+)", role: admin}`, "keep only one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(sample, tc.from, tc.to, 1)
			require.NotEqual(t, sample, changed)
			_, err := parse(strings.NewReader(changed))
			require.ErrorContains(t, err, tc.wrong)
		})
	}
}

func TestRulesMapClaimsToRoles(t *testing.T) {
	t.Parallel()
	pattern := Rule{Claim: "groups", Pattern: "carve-(?P<project>[a-z0-9-]+)-(?P<role>[a-z]+)"}
	for name, tc := range map[string]struct {
		rules  []Rule
		groups any
		want   map[string]tenancy.Role
	}{
		"Value":                          {[]Rule{{Claim: "groups", Value: "ops", Project: "acme", Role: "admin"}}, []any{"ops"}, map[string]tenancy.Role{"acme": "admin"}},
		"ValueAsOneString":               {[]Rule{{Claim: "groups", Value: "ops", Project: "acme", Role: "admin"}}, "ops", map[string]tenancy.Role{"acme": "admin"}},
		"ValueIsCompared":                {[]Rule{{Claim: "groups", Value: "ops", Project: "acme", Role: "admin"}}, []any{"OPS", "ops2"}, nil},
		"ValueOfAnotherType":             {[]Rule{{Claim: "groups", Value: "7", Project: "acme", Role: "admin"}}, []any{7, true, nil}, nil},
		"Pattern":                        {[]Rule{pattern}, []any{"carve-acme-viewer", "carve-lab-2-admin"}, map[string]tenancy.Role{"acme": "viewer", "lab-2": "admin"}},
		"PatternMatchesTheWholeValue":    {[]Rule{pattern}, []any{"x-carve-acme-viewer", "carve-acme-viewer\n"}, nil},
		"PatternOfNoRole":                {[]Rule{pattern}, []any{"carve-acme-root"}, nil},
		"PatternOfNoProject":             {[]Rule{pattern}, []any{"carve---viewer"}, nil},
		"PatternNeverGivesPlatform":      {[]Rule{pattern}, []any{"carve-platform-admin"}, nil},
		"PatternForAWrittenProject":      {[]Rule{{Claim: "groups", Pattern: "(?P<role>[a-z]+)s", Project: "platform"}}, []any{"admins"}, map[string]tenancy.Role{"platform": "admin"}},
		"AlternativesMatchTheWholeValue": {[]Rule{{Claim: "groups", Pattern: "a|b", Project: "acme", Role: "viewer"}}, []any{"axx", "xxb"}, nil},
		"LargerRoleWins":                 {[]Rule{pattern}, []any{"carve-acme-provider", "carve-acme-viewer"}, map[string]tenancy.Role{"acme": "provider"}},
		"LargerRoleWinsInAnyOrder":       {[]Rule{pattern}, []any{"carve-acme-viewer", "carve-acme-provider"}, map[string]tenancy.Role{"acme": "provider"}},
		"ClaimOfAnotherType":             {[]Rule{pattern}, map[string]any{"carve-acme-viewer": true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rules []rule
			for _, r := range tc.rules {
				compiled, err := r.compile()
				require.NoError(t, err)
				rules = append(rules, compiled)
			}
			got := rolesOf(rules, map[string]any{"groups": tc.groups})
			if tc.want == nil {
				require.Empty(t, got)
				return
			}
			require.Equal(t, tc.want, got)
		})
	}
}
