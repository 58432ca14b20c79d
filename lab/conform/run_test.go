package conform

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// The flags of a run. The seed decides everything else, and the test prints it.
var (
	seedFlag   = flag.Uint64("conform.seed", 1, "decides what is sent")
	seedsFlag  = flag.Int("conform.seeds", 1, "how many seeds, counted from conform.seed, each with a service of its own")
	roundsFlag = flag.Int("conform.rounds", 1, "rounds of each seed: in one, every operation gets every kind of request")
	reportFlag = flag.String("conform.report", "", "a file for what was sent and answered, by operation")
)

func TestMain(m *testing.M) {
	flag.Parse()
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		return schema.Migrate(ctx, dsn, schema.MigrateOptions{Regions: []string{home}})
	}})
}

// Each operation of the contract gets each kind of request. No response may differ from the contract.
func TestContract(t *testing.T) {
	t.Parallel()
	all := newReport()
	t.Run("Seeds", func(t *testing.T) {
		for i := range *seedsFlag {
			seed := *seedFlag + uint64(i)
			t.Run("", func(t *testing.T) {
				t.Parallel()
				t.Logf("-conform.seed=%d -conform.rounds=%d runs this again", seed, *roundsFlag)
				w := setup(t, seed, all)
				w.run(*roundsFlag)
			})
		}
	})
	var text bytes.Buffer
	all.print(&text)
	t.Log("\n" + text.String())
	if *reportFlag != "" {
		require.NoError(t, os.WriteFile(*reportFlag, text.Bytes(), 0o600))
	}
	for _, each := range all.alike() {
		t.Error(each)
	}
	for _, op := range contract().operations {
		seen := all.byOp[op.id]
		require.NotNil(t, seen, "%s was never called", op.id)
		require.NotZero(t, seen.done, "%s never succeeded", op.id)
		require.NotZero(t, seen.refused, "%s was never refused", op.id)
	}
}

// creation lists operations in an order in which objects can be made.
var creation = []string{
	"createProject", "createSpace", "createClass", "createPool", "putSpaceGrant", "putPoolGrant", "putMember", "createApiKey", "putQuota", "createClaim", "putClaim", "createClaimBatch", "putConsumer", "createWebhook", "createAlertRule",
}

// run makes the rounds.
func (w *world) run(rounds int) {
	for _, id := range creation { // so that the objects exist in the first round
		for range 6 {
			w.live(contract().named(id))
		}
	}
	w.retained()
	w.stories()
	for range rounds {
		operations := contract().operations
		for _, i := range w.Perm(len(operations)) {
			op := operations[i]
			if base, ok := w.sense(op); ok {
				w.writesNothing(w.quiet(base))
				w.indistinguishable(base)
				w.respelled(base)
			}
			for range 3 {
				w.live(op)
			}
			w.paged(op)
			w.compared(op)
		}
		w.retained()
		w.stories()
	}
}

// retained makes retained allocations and returns two of them: it deletes one and binds the other to a new claim.
func (w *world) retained() {
	pool := w.fresh("keep")
	w.serial++
	w.made("createPool", "/v1/projects/"+tenant+"/pools", obj{"metadata": obj{"name": pool}, "spec": obj{"cidr": fmt.Sprintf("172.%d.%d.0/24", 16+w.serial/256%16, w.serial%256)}})
	for range 2 {
		name := w.fresh("kept")
		w.made("createClaim", "/v1/projects/"+tenant+"/claims", obj{"metadata": obj{"name": name}, "spec": obj{
			"poolRef": obj{"name": pool}, "prefixLength": 30, "reclaimPolicy": "Retain",
		}})
		r := w.plain(contract().named("deleteClaim"), "/v1/projects/"+tenant+"/claims/"+name)
		r.want = []int{http.StatusNoContent}
		w.do(r)
	}
}
