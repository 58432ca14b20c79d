package chaos

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/twins"
)

func TestSameSeedGivesTheSamePlan(t *testing.T) {
	t.Parallel()
	for _, m := range append(Mixes(), restoredAlone()) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			one, same, other := told(NewPlan(m, 7)), told(NewPlan(m, 7)), told(NewPlan(m, 8))
			require.Equal(t, one, same)
			require.NotEqual(t, one, other)
		})
	}
}

// told describes each operation and event of a plan as text.
func told(p *Plan) (out []string) {
	for _, ops := range p.Ops {
		for i := range ops {
			out = append(out, ops[i].Kind.String()+" "+ops[i].Pool+" "+ops[i].Block.String())
		}
	}
	for _, e := range p.Events {
		out = append(out, e.String())
	}
	return out
}

func TestPlansHaveEveryOperationOfTheirMix(t *testing.T) {
	t.Parallel()
	for _, m := range Mixes() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			seen := map[Kind]bool{}
			for seed := range uint64(5) {
				for _, ops := range NewPlan(m, seed).Ops {
					for i := range ops {
						seen[ops[i].Kind] = true
					}
				}
			}
			for kind := range m.Weights {
				require.True(t, seen[kind], "%v", kind)
			}
		})
	}
}

// Two releases of one claim could both lose their responses. Both clients would then learn that the claim is gone, and no order could explain that.
func TestPlanReleasesNoClaimTwice(t *testing.T) {
	t.Parallel()
	type what struct {
		op    string
		index int
	}
	seen := map[what]bool{}
	for _, ops := range NewPlan(Served(), 3).Ops {
		for i := range ops {
			if o := &ops[i]; o.Kind == Release {
				w := what{o.Target.ID(), o.Index}
				require.False(t, seen[w], "%v", w)
				seen[w] = true
			}
		}
	}
	require.NotEmpty(t, seen)
}

func TestTidesFillAndThenEmptyThePools(t *testing.T) {
	t.Parallel()
	m := neighbours()
	made := 0
	for c, ops := range NewPlan(m, 1).Ops {
		for i := range ops {
			switch m.tide(ops[i].Number) {
			case flood:
				require.NotEqual(t, Release, ops[i].Kind, "client %d", c)
				made++
			case ebb:
				if ops[i].Kind != Release {
					made++
					continue
				}
				made--
				require.Equal(t, flood, m.tide(ops[i].Target.Number))
			default:
				t.Fatal("slack water in a mix with tides")
			}
		}
	}
	require.Zero(t, made, "all that was claimed is released")
	require.Equal(t, slack, Ordinary().tide(3))
}

// Each protection that package twins can remove must have a mix that shows its absence.
func TestEachProtectionHasAMix(t *testing.T) {
	t.Parallel()
	var seen []string
	for _, w := range Twins() {
		require.Positive(t, w.Seeds)
		require.NotEmpty(t, w.Lacks)
		require.Equal(t, w.Name, w.Mix.Name)
		seen = append(seen, w.Name)
	}
	require.ElementsMatch(t, twins.Names(), seen)
}
