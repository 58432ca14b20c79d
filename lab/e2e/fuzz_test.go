package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The size of a fuzz run. Each seed has its own service, so the seed is enough to reproduce a failure.
const (
	fuzzSeeds   = 10
	fuzzEach    = 500
	fuzzSeedEnv = "E2E_FUZZ_SEED" // if set, only this seed runs
)

// The test changes the examples of the contract at random and sends them in any order. No response may be a 5xx, each response must match the
// contract, and each invariant must hold afterwards.
func TestFuzz(t *testing.T) {
	t.Parallel()
	first, n := uint64(1), uint64(fuzzSeeds)
	if text := os.Getenv(fuzzSeedEnv); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		first, n = seed, 1
	}
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
			t.Parallel()
			s := setupStage(t)
			f := &fuzzer{Rand: rand.New(rand.NewPCG(seed, 0)), stage: s, specimens: s.specimens(t)}
			for i := range fuzzEach {
				each := f.specimens[f.IntN(len(f.specimens))]
				method, path, body, options := f.broken(each)
				what := fmt.Sprintf("request %d, from %s: %s %s %s", i, each, method, short([]byte(path)), short(body))
				var sent any
				if body != nil {
					sent = body
				}
				if a, err := s.try(t.Context(), t, method, path, sent, options...); err != nil {
					t.Errorf("no answer: %v", err)
				} else if a.ok() {
					f.accepted++
				}
				if t.Failed() {
					t.Fatalf("%s\n%s=%d runs this again", what, fuzzSeedEnv, seed)
				}
			}
			t.Logf("%d of %d requests were accepted", f.accepted, fuzzEach)
			require.Positive(t, f.accepted, "what is always refused at the door tests nothing")
		})
	}
}

type fuzzer struct {
	*rand.Rand
	stage     *stage
	specimens []specimen
	accepted  int
}

// broken returns the request of a specimen with one to three random faults.
func (f *fuzzer) broken(each specimen) (method, path string, body []byte, options []option) {
	method, path, options = each.op.method, each.path, each.always()
	tree := any(obj{})
	if each.body != nil {
		tree = clone(each.body)
	}
	var text []byte
	for range 1 + f.IntN(3) {
		switch f.IntN(12) {
		case 0:
			method = pick(f, []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions})
		case 1:
			path = pick(f, f.specimens).path
		case 2:
			path += "/" + url.PathEscape(f.word())
		case 3, 4:
			options = append(options, query(url.QueryEscape(f.parameter())+"="+url.QueryEscape(f.word())))
		case 5:
			options = append(options, f.header())
		case 6:
			text = f.garble(marshal(tree))
		default:
			tree = f.mutate(tree)
		}
	}
	if method == http.MethodDelete && f.IntN(3) > 0 {
		options = append(options, dryRun) // leave objects for later requests
	}
	if each.body == nil {
		return method, path, nil, options
	}
	if text == nil {
		text = marshal(tree)
	}
	return method, path, text, options
}

func pick[T any](f *fuzzer, from []T) T { return from[f.IntN(len(from))] }

// parameter returns the name of a query parameter, which mostly exists.
func (f *fuzzer) parameter() string {
	if known := pick(f, f.specimens).op.in("query"); len(known) > 0 {
		return pick(f, known).Name
	}
	return f.word()
}

func (f *fuzzer) header() option {
	name := pick(f, []string{"If-Match", "Idempotency-Key", "Accept", "Content-Type", "X-Request-Id", "Content-Encoding", "Traceparent", "Expect", "Prefer"})
	value := pick(f, []string{
		"*", `"x"`, `W/"x"`, "k1", "k2", "application/json", "application/merge-patch+json", "text/*", "*/*;q=0", "", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"100-continue", "\xff", "a b", "gzip",
	})
	if name == "X-Request-Id" {
		value = "fuzz"
	}
	if name == "Expect" {
		value = "100-continue" // net/http itself responds to other values, before any handler of the service
	}
	return header(name, value)
}
