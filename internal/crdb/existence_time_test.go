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

// oracleRounds is the number of tries for each name. oracleBlock is the number of consecutive tries that form a block. The test compares the medians
// of the blocks, because a pause of the machine affects only few blocks.
const (
	oracleRounds = 1000
	oracleBlock  = 20
	oracleBound  = 4 // limit for |z|; chance alone exceeds it once in 16,000 tests
)

// The duration of a refusal reveals nothing: a foreign name takes as long as a missing name. As a control, the test also compares two missing names.
// It measures times, so only `make oracle` runs it.
func TestResponseTimeDoesNotRevealForeignResources(t *testing.T) {
	s := newSecrets(t)
	svc := alloc.New(s.store, alloc.Options{Region: region, Webhooks: hooked})
	all := s.guesses()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "Reading" || name == "Deleting" || strings.Contains(name, "BySelector/shared") {
			// If the object exists, the database reads and discards one row more, which takes about 2 µs. A caller that could measure this learns
			// nothing valuable. Either it knows the 122 random bits of an allocation already, or it learns only that the platform shares a pool with
			// other projects.
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
					if round >= oracleBlock { // the first block is slow, so it does not count
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

// score returns the mean difference between the block medians of a and b, in standard errors.
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
