package api_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Each error about classes has its status and its figures, and conforms to the contract.
func TestRefusalsOfClaimsByClass(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 5, 10, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		code    ipam.Code
		status  int
		figures ipam.Figures
		want    gen.Problem
	}{
		{
			ipam.CodeExhaustedByCooldown, http.StatusConflict,
			ipam.Figures{Class: "platform/standard", CoolingDown: "1024", CooledDownAt: at, PoolsTried: []string{"platform/(hidden)"}},
			gen.Problem{Class: "platform/standard", CoolingDownAddresses: "1024", CooledDownAt: &at, PoolsTried: []string{"platform/(hidden)"}},
		},
		{ipam.CodeNoPoolForClass, http.StatusConflict, ipam.Figures{Class: "team-a/web"}, gen.Problem{Class: "team-a/web"}},
		{ipam.CodeNoDefaultClass, http.StatusConflict, ipam.Figures{}, gen.Problem{}},
		{
			ipam.CodePrefixLengthRejected, http.StatusUnprocessableEntity,
			ipam.Figures{Class: "platform/standard", WantedPrefixLength: new(20), AllowedMin: new(22), AllowedMax: new(28)},
			gen.Problem{Class: "platform/standard", WantedPrefixLength: new(20), AllowedPrefixLengths: &gen.PrefixLengthRange{Min: 22, Max: 28}},
		},
		{
			ipam.CodeInvalidArgument, http.StatusBadRequest,
			ipam.Figures{Class: "team-a/per-cluster", MissingRoles: []string{"cluster", "zone"}},
			gen.Problem{Class: "team-a/per-cluster", MissingRoles: []string{"cluster", "zone"}},
		},
		{ipam.CodeNotFound, http.StatusNotFound, ipam.Figures{}, gen.Problem{}},
		{ipam.CodeFamilyMismatch, http.StatusUnprocessableEntity, ipam.Figures{Class: "team-a/v6"}, gen.Problem{Class: "team-a/v6"}},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			t.Parallel()
			e := ipam.Errorf(c.code, "It is refused.").At("/spec/className", "is why.")
			e.Figures = c.figures
			w := serve(t, api.Config{Service: refusing{err: e}}).do(t, "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"className": "standard"}}`)
			p := problem(t, w, c.status, gen.ProblemCode(c.code))
			require.Equal(t, []gen.ProblemField{{Pointer: "/spec/className", Detail: "is why."}}, p.Errors)
			require.Empty(t, w.Header().Values("Retry-After"))
			require.Equal(t, c.want, gen.Problem{
				Class: p.Class, MissingRoles: p.MissingRoles, CoolingDownAddresses: p.CoolingDownAddresses, CooledDownAt: p.CooledDownAt,
				PoolsTried: p.PoolsTried, WantedPrefixLength: p.WantedPrefixLength, AllowedPrefixLengths: p.AllowedPrefixLengths,
			})
		})
	}
}

func TestRefusalsShowAtMostTwentySteps(t *testing.T) {
	t.Parallel()
	e := ipam.Errorf(ipam.CodePoolExhausted, "Nothing is free.")
	for i := range 30 {
		e.Figures.Steps = append(e.Figures.Steps, ipam.Step{
			Kind: ipam.StepPool, Name: "team-a/p" + strconv.Itoa(i), Outcome: ipam.OutcomeSkipped, Code: ipam.CodePoolExhausted, Detail: "It is full.",
		})
	}
	w := serve(t, api.Config{Service: refusing{err: e}}).do(t, "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {}}`)
	p := problem(t, w, http.StatusConflict, gen.ProblemCodePoolExhausted)
	require.Len(t, p.Steps, 20)
	require.Equal(t, "team-a/p19", p.Steps[19].Name)
}

func TestParametersOfClassesAreStrict(t *testing.T) {
	t.Parallel()
	for _, c := range [][5]string{
		{"POST", classes + "?moveDefault=1", `{"metadata": {"name": "c"}, "spec": {"ipFamily": "IPv4"}}`, "query:moveDefault", "must be true or false."},
		{"PATCH", classes + "/c?moveDefault=", `{"spec": {"isDefault": true}}`, "query:moveDefault", "must be true or false."},
		{"POST", explanations + "?dryRun=true", `{"spec": {}}`, "query:dryRun", "it has none."},
	} {
		var guarded []string
		if c[0] != http.MethodPost {
			guarded = []string{"If-Match", "*"}
		}
		p := problem(t, serve(t, api.Config{}).do(t, c[0], c[1], c[2], guarded...), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		require.Equal(t, c[3], p.Errors[0].Pointer)
		require.Contains(t, p.Errors[0].Detail, c[4])
	}
}

// The response contains the figures of the use case's error.
func TestRefusalsOfClasses(t *testing.T) {
	t.Parallel()
	const body = `{"metadata": {"name": "gold"}, "spec": {"ipFamily": "IPv4", "isDefault": true}}`
	inUse := ipam.Errorf(ipam.CodeInUse, "Class team-a/gold is listed by 2 pools and named by 37 claims.")
	inUse.Figures = ipam.Figures{Class: "team-a/gold", Pools: new(int64(2)), Claims: new(int64(37))}
	taken := ipam.Errorf(ipam.CodeAlreadyExists, "Class team-a/web is the default for IPv4 already.").At("/spec/isDefault", "can be true for only one class of a family.")
	taken.Figures.ConflictsWith = []string{"team-a/web"}
	hides := ipam.Errorf(ipam.CodeInUse, "Class platform/gold is listed by 1 pool.").At("/metadata/name", "is the name by which pools of the project list class platform/gold.")
	hides.Figures = ipam.Figures{Pools: new(int64(1)), ConflictsWith: []string{"platform/gold"}}

	for promise, c := range map[string]struct {
		method, path, body string
		fail               *ipam.Error
		status             int
		check              func(t *testing.T, p gen.Problem)
	}{
		"InUse": {"DELETE", classes + "/gold", "", inUse, http.StatusConflict, func(t *testing.T, p gen.Problem) {
			t.Helper()
			require.Equal(t, []int64{2, 37}, []int64{*p.Pools, *p.Claims})
			require.Equal(t, "team-a/gold", p.Class)
		}},
		"ASecondDefault": {"POST", classes, body, taken, http.StatusConflict, func(t *testing.T, p gen.Problem) {
			t.Helper()
			require.Equal(t, []string{"team-a/web"}, p.ConflictsWith)
			require.Equal(t, "/spec/isDefault", p.Errors[0].Pointer)
		}},
		"ASecondDefaultByPatch": {"PATCH", classes + "/gold", `{"spec": {"isDefault": true}}`, taken, http.StatusConflict, func(t *testing.T, p gen.Problem) {
			t.Helper()
			require.Equal(t, []string{"team-a/web"}, p.ConflictsWith)
		}},
		"ANameThatWouldHideAnother": {"POST", classes, body, hides, http.StatusConflict, func(t *testing.T, p gen.Problem) {
			t.Helper()
			require.Equal(t, int64(1), *p.Pools)
			require.Equal(t, []string{"platform/gold"}, p.ConflictsWith)
		}},
		"NotFound": {"DELETE", classes + "/gold", "", ipam.Errorf(ipam.CodeNotFound, "Class team-a/gold was not found."), http.StatusNotFound, nil},
	} {
		t.Run(promise, func(t *testing.T) {
			t.Parallel()
			s := scriptClass()
			s.fail = c.fail
			var guarded []string
			if c.method != http.MethodPost {
				guarded = []string{"If-Match", "*"}
			}
			p := problem(t, s.server(t).do(t, c.method, c.path, c.body, guarded...), c.status, gen.ProblemCode(c.fail.Code))
			require.Equal(t, c.fail.Message, p.Detail)
			if c.check != nil {
				c.check(t, p)
			}
		})
	}
}
