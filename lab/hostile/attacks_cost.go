package hostile

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// costly lists requests that a tenant may send and that cost more than it seems. The tenant repeats them without a pause.
func costly() []attack {
	var turn atomic.Int64
	body := func(n int64, pool string, labels int) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, `,{"metadata":{"name":"b%d-%d"%s},"spec":{"poolRef":{"project":"good","name":%q},"prefixLength":32}}`, n, i, manyLabels(labels), pool)
		}
		return `{"claims":[` + b.String()[1:] + `]}`
	}
	batch := func(pool string) func() (string, string, string) {
		return func() (string, string, string) {
			return http.MethodPost, "/claim-batches", body(turn.Add(1), pool, 0)
		}
	}
	// The attacker builds a request once and repeats it. Otherwise the work of the attacker would be an additional load on the same processors.
	same := func(path, body string) func() (string, string, string) {
		return func() (string, string, string) { return http.MethodPost, path, body }
	}
	dry := func(pool string, labels int) func() (string, string, string) {
		return same("/claim-batches?dryRun=true", body(0, pool, labels))
	}
	get := func(path string) func() (string, string, string) {
		return func() (string, string, string) { return http.MethodGet, path, "" }
	}
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, `,"k%d":"v"`, i)
	}
	annotations := same("/claims", `{"metadata":{"name":"c","annotations":{`+b.String()[1:]+`}},"spec":{"poolRef":{"project":"good","name":"pool"}}}`)
	return []attack{
		{name: "costly: batches of 1,000, Random", run: busy(batch("random"))},
		{name: "costly: dry runs of batches of 1,000, Random", run: busy(dry("random", 0))},
		{name: "costly: batches of 1,000, BestFit", run: busy(batch("pool"))},
		{name: "costly: dry runs of batches, labels", run: busy(dry("pool", 20))},
		{name: "costly: a refused body of 40,000 annotations", run: busy(annotations)},
		{name: "costly: claims?contains= that misses", run: busy(get("/claims?contains=192.0.2.1"))},
		{name: "costly: a label selector that misses", run: busy(get("/claims?labelSelector=a%3Db"))},
		{name: "costly: claims?limit=500", run: busy(get("/claims?limit=500"))},
		{name: "costly: a filter of the trail that misses", run: busy(get("/audit-events?resourceName=nobody"))},
	}
}

func manyLabels(n int) string {
	if n == 0 {
		return ""
	}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"label-%d":"v"`, i)
	}
	return `,"labels":{` + b.String()[1:] + `}`
}

// busy sends requests over four connections with one key. It sends each request immediately after the previous response. It ignores Retry-After and
// waits only a hundredth of a second.
func busy(request func() (method, path, body string)) func(context.Context, *server, options, chan<- struct{}) error {
	return func(ctx context.Context, s *server, _ options, under chan<- struct{}) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: s.secure, MaxIdleConnsPerHost: 4}}
		crowd(ctx, 4, under, func(ctx context.Context, connected func()) error {
			connected()
			for ctx.Err() == nil {
				method, path, body := request()
				r, err := http.NewRequestWithContext(ctx, method, s.api.URL+"/v1/projects/bad"+path, strings.NewReader(body))
				if err != nil {
					return err
				}
				r.Header.Set("Authorization", "Bearer "+s.bad[0])
				r.Header.Set("Content-Type", "application/json")
				w, err := client.Do(r)
				if err != nil {
					return err
				}
				_, _ = io.Copy(io.Discard, w.Body)
				_ = w.Body.Close()
				if w.StatusCode == http.StatusTooManyRequests {
					wait(ctx, 10*time.Millisecond)
				}
			}
			return nil
		})
		return nil
	}
}
