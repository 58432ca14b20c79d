package chaos

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func violated(checks ...string) (r Result) {
	for _, check := range checks {
		r.Violations = append(r.Violations, Violation{Check: check})
	}
	return r
}

func TestSeedsAreCountedOnceForEachCheck(t *testing.T) {
	t.Parallel()
	require.Equal(t, "2 of 3 seeds, audit 2, told 1", counts([]Result{violated("audit", "audit"), {}, violated("told", "audit")}))
}

func TestSuiteHoldsWhenEverySeedRanAndWasJudged(t *testing.T) {
	t.Parallel()
	jobs := make([]Job, 2)
	good := Result{Judged: 100}
	for title, c := range map[string]struct {
		results []Result
		holds   bool
	}{
		"AllHeld":            {[]Result{good, good}, true},
		"OneWasViolated":     {[]Result{good, violated("lost")}, false},
		"OneCouldNotBeRun":   {[]Result{good, {Err: errors.New("no database")}}, false},
		"OneWasNotDone":      {[]Result{good}, false},
		"TooMuchIsNotJudged": {[]Result{good, {Unjudged: 11}}, false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.Equal(t, c.holds, total(&out, jobs, c.results), out.String())
		})
	}
}

func TestSuiteThatCannotRunIsAnError(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--mix=nothing"}, {"--twins", "--mix=nothing"}, {"--nothing"}} {
		var out bytes.Buffer
		require.Error(t, command(t.Context(), args, &out), out.String())
	}
}
