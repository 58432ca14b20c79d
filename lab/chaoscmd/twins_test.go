package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/chaos"
)

func violated(checks ...string) (r chaos.Result) {
	for _, check := range checks {
		r.Violations = append(r.Violations, chaos.Violation{Check: check})
	}
	return r
}

func TestSeedsAreCountedOnceForEachCheck(t *testing.T) {
	t.Parallel()
	require.Equal(t, "2 of 3 seeds, audit 2, told 1", counts([]chaos.Result{violated("audit", "audit"), {}, violated("told", "audit")}))
}

func TestASuiteHoldsWhenAllOfItWasDoneAndJudged(t *testing.T) {
	t.Parallel()
	jobs := make([]chaos.Job, 2)
	good := chaos.Result{Judged: 100}
	for title, c := range map[string]struct {
		results []chaos.Result
		holds   bool
	}{
		"AllHeld":            {[]chaos.Result{good, good}, true},
		"OneWasViolated":     {[]chaos.Result{good, violated("lost")}, false},
		"OneCouldNotBeRun":   {[]chaos.Result{good, {Err: errors.New("no database")}}, false},
		"OneWasNotDone":      {[]chaos.Result{good}, false},
		"TooMuchIsNotJudged": {[]chaos.Result{good, {Unjudged: 11}}, false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.Equal(t, c.holds, total(&out, jobs, c.results), out.String())
		})
	}
}

func TestASuiteThatCannotBeRunIsNoSuccess(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--mix=nothing"}, {"--twins", "--mix=nothing"}, {"--nothing"}} {
		var out bytes.Buffer
		require.Equal(t, 2, run(args, &out), out.String())
	}
}
