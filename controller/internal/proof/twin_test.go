package proof_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/controller/internal/cluster"
)

// twin is the controller with one deliberate fault: in a file, another text replaces a text.
type twin struct{ file, text, instead string }

// build builds the twin under a name.
func (f twin) build(t *testing.T, name string) {
	t.Helper()
	file, err := filepath.Abs(cluster.Root(filepath.Join("controller", f.file)))
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), f.text), "%s has changed: make the fault anew", f.file)
	faulty, overlay := filepath.Join(t.TempDir(), "faulty.go"), filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(faulty, []byte(strings.Replace(string(text), f.text, f.instead, 1)), 0o600))
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {file: faulty}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))
	require.NoError(t, build(name, "-overlay="+overlay))
}

// TestFaultyControllersAreDetected checks that these tests, which find no fault in the controller, find each fault of a twin.
func TestFaultyControllersAreDetected(t *testing.T) {
	for name, c := range map[string]struct {
		twin
		finds    string
		machines int
	}{
		"takes what it has not seen yet for gone": {twin{
			"internal/claims/assess.go", "[]client.Reader{r.Client, r.Live}", "[]client.Reader{r.Client}",
		}, "while its pod", 0},
		"takes a pod of the same name for the same": {twin{
			"internal/podstate/podstate.go", "case pod.UID != uid:", "case pod.UID != uid && uid == \"\":",
		}, "no pod that lives has it", 0},
		"releases the block of a claim that moves": {twin{
			"internal/claims/lineage.go", "claim.Status.Claim == nil || !durable(claim)", "claim.Status.Claim == nil || !durable(claim) || true",
		}, "moves, and the history says", 8},
	} {
		t.Run(name, func(t *testing.T) {
			c.build(t, "twin")
			var w *world
			var found string
			for storms := 0; storms < 5 && !strings.Contains(found, c.finds); storms++ { // a storm is random
				w = begin(t, 16)
				w.program = "twin"
				w.toAPI.lags(time.Second)
				w.park(t)
				fleet := w.runs(t, "faulty", "--cluster-api")
				require.Eventually(t, func() bool { return w.toCarve.asked()["GET changes"] > 0 }, 5*time.Minute, 100*time.Millisecond, "it never leads")
				s := &storm{world: w, slots: 16, nodes: 8, rate: 20, length: 6 * time.Second, machines: make([]*machine, c.machines)}
				s.rages(t.Context())
				found = strings.Join(append(w.settles(t.Context(), 5*time.Second), w.judges(t)...), "\n")
				fleet.stop()
			}
			require.Contains(t, found, c.finds)

			w.program = "carve-controller"                              // the remains of the twin must not disturb a sound controller
			w.runs(t, "sound", "--cluster-api", "--sweep-interval=10s") // a claim that ended during its move may still have its block
			ctx, end := context.WithTimeout(t.Context(), 20*time.Minute)
			defer end()
			w.drains(ctx, t, 16)
		})
	}
}
