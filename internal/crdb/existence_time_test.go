//go:build oracle

package crdb_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
)

// How often each name is tried, and how many tries in a row make one block. The medians of blocks are compared: a pause of the machine falls
// into few of them.
const (
	oracleRounds = 1000
	oracleBlock  = 20
	oracleBound  = 4 // of |z|, which chance alone passes once in 16,000 times
)

// The time of a refusal tells nothing: a name that somebody else has takes as long as one that nobody has. The control compares two names that
// nobody has. It measures times, so it is not among the tests that always run: make oracle.
func TestResponseTimeDoesNotRevealForeignResources(t *testing.T) {
	s := newSecrets(t)
	svc := alloc.New(s.store, alloc.Options{Region: region, Webhooks: hooked})
	all := s.guesses()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "Reading" || name == "Deleting" || strings.Contains(name, "BySelector/shared") {
			// The database fetches one row more of what is there, and throws it away: some 2 µs. Whoever measures that knows the 122 random bits
			// of an allocation already; and of a pool, that the platform shares it with others.
			continue
		}
		t.Run(name, func(t *testing.T) {
			g := all[name]
			ctx := asCurious(t)
			names := [3]string{g.absent, g.there, g.other}
			var took [3][]float64
			for round := range oracleRounds + oracleBlock {
				for _, i := range rand.Perm(len(names)) {
					began := time.Now()
					err := g.ask(ctx, svc, names[i])
					lasted := time.Since(began)
					require.Contains(t, []ipam.Code{ipam.CodeNotFound, ipam.CodeNoPoolMatches}, ipam.CodeOf(err), err)
					if round >= oracleBlock { // what comes first is slow
						took[i] = append(took[i], float64(lasted.Microseconds()))
					}
				}
			}
			z, control := score(took[1], took[0]), score(took[2], took[0])
			t.Logf("z = %+.2f, control %+.2f; medians: there %.0f µs, absent %.0f µs and %.0f µs", z, control, median(took[1]), median(took[0]), median(took[2]))
			require.Less(t, math.Abs(control), float64(oracleBound), "the control: this machine is too restless to tell")
			require.Less(t, math.Abs(z), float64(oracleBound))
		})
	}
}

// score is how many standard errors the medians of blocks of a lie above those of b.
func score(a, b []float64) float64 {
	var diffs []float64
	for from := 0; from+oracleBlock <= len(a); from += oracleBlock {
		diffs = append(diffs, median(a[from:from+oracleBlock])-median(b[from:from+oracleBlock]))
	}
	mean, n := 0.0, float64(len(diffs))
	for _, d := range diffs {
		mean += d / n
	}
	variance := 0.0
	for _, d := range diffs {
		variance += (d - mean) * (d - mean) / (n - 1)
	}
	if variance == 0 {
		return 0
	}
	return mean / math.Sqrt(variance/n)
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
