package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// BenchmarkClasses claims and releases over HTTP with 32 clients. It compares three ways in turn: by poolRef, by a class with one pool, and by a
// class with three pools. Each way has its own pools. It reports the pairs of claim and release per second by poolRef, and the fraction of that rate
// by class.
func BenchmarkClasses(b *testing.B) {
	const clients, turns, turn = 32, 4, 3 * time.Second
	dsn := dbtest.New(b)
	server := serve(b, dsn, "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-reads=0")
	root := server.as(bootstrap(b, dsn))
	project, c := root.settle(b, 1)
	ways := []struct {
		name string
		spec obj
		n    int64
	}{{name: "pool", spec: obj{"poolRef": obj{"name": "default"}}}}
	for n, pools := range []int{1, 3} {
		class := fmt.Sprintf("class-%d", pools)
		root.create(b, http.MethodPost, "/platform/classes", obj{"metadata": obj{"name": class}, "spec": obj{"ipFamily": "IPv4", "visibility": "shared", "strategy": "FirstFit"}}, nil)
		for i := range pools {
			root.create(b, http.MethodPost, "/platform/pools", obj{
				"metadata": obj{"name": fmt.Sprintf("%s-%d", class, i)}, "spec": obj{"cidr": fmt.Sprintf("10.%d.0.0/16", 10*n+i), "classNames": []string{class}},
			}, nil)
		}
		ways = append(ways, struct {
			name string
			spec obj
			n    int64
		}{name: class, spec: obj{"className": class}})
	}
	b.ResetTimer()
	for range b.N {
		for range turns {
			for w := range ways {
				pairs, err := c.pairs(b.Context(), project, ways[w].spec, clients, turn)
				require.NoError(b, err)
				ways[w].n += pairs
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(ways[0].n)/(float64(b.N*turns)*turn.Seconds()), "pool-pairs/s")
	for _, w := range ways[1:] {
		b.ReportMetric(float64(w.n)/float64(ways[0].n), w.name+"/pool")
	}
}

// pairs claims and releases addresses with a number of clients for a time. It returns the number of pairs.
func (c *caller) pairs(ctx context.Context, project string, spec obj, clients int, length time.Duration) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	body := obj{"prefixLength": 32}
	maps.Copy(body, spec)
	var n atomic.Int64
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			name := fmt.Sprintf("c%d", i)
			for ctx.Err() == nil {
				status, err := c.send(context.WithoutCancel(ctx), http.MethodPost, "/"+project+"/claims", obj{"metadata": obj{"name": name}, "spec": body}, nil)
				if err == nil && status != http.StatusCreated {
					err = fmt.Errorf("a claim was answered %d", status)
				}
				if err == nil {
					status, err = c.send(context.WithoutCancel(ctx), http.MethodDelete, "/"+project+"/claims/"+name, nil, nil)
				}
				if err == nil && status != http.StatusNoContent {
					err = fmt.Errorf("a release was answered %d", status)
				}
				if err != nil {
					errs[i] = err
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return n.Load(), errors.Join(errs...)
}
