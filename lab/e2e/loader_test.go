package e2e

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// realInput returns the path of a file of real data in a folder beside the project. It skips the test if that folder does not exist, but not if the
// file is missing.
func realInput(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		t.Skipf("there is no real input: %s is absent", dir)
	}
	return filepath.Join(dir, name)
}

// loader loads an address plan through the generated client over several connections. It counts the outcomes.
type loader struct {
	*client.Client
	c *caller

	mu      sync.Mutex
	loaded  map[string]int // by kind of object
	refused map[string]int // by kind and code
}

// newLoader returns a loader for a server in a separate process. The race detector of the test does not slow that process down.
func newLoader(t testing.TB) (*loader, *world) {
	t.Helper()
	dsn := database(t)
	p := startProcess(t, serverBinary(t), nil, "--database-url="+dsn, "--request-timeout=60s")
	w := newWorld(t, newCaller(p.Addr()), dsn)
	w.created(t, w.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	c, err := client.NewClient(w.url("/"), client.WithHTTPClient(w.doer(t)))
	require.NoError(t, err)
	return &loader{Client: c, c: w.caller, loaded: map[string]int{}, refused: map[string]int{}}, w
}

// job loads one object and returns its outcome.
type job func() (kind string, status int, body []byte, err error)

// answered converts a response into a job's outcome.
func answered(kind string) func(*http.Response, error) (string, int, []byte, error) {
	return func(resp *http.Response, err error) (string, int, []byte, error) {
		if err != nil {
			return kind, 0, nil, err
		}
		body, err := io.ReadAll(resp.Body)
		return kind, resp.StatusCode, body, errors.Join(err, resp.Body.Close())
	}
}

// load runs jobs, several at a time.
func (l *loader) load(t testing.TB, jobs []job) {
	t.Helper()
	queue := make(chan job)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for each := range queue {
				kind, status, body, err := each()
				if err != nil {
					t.Error(err)
					continue
				}
				l.count(t, kind, status, body)
			}
		})
	}
	for _, each := range jobs {
		queue <- each
	}
	close(queue)
	wg.Wait()
}

// count records one outcome: success, or a refusal with status 409 and a code.
func (l *loader) count(t testing.TB, kind string, status int, body []byte) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch p, _ := problemOf(answer{header: http.Header{"Content-Type": {"application/problem+json"}}, body: body}); status {
	case http.StatusCreated:
		l.loaded[kind]++
	case http.StatusConflict:
		l.refused[kind+" "+p.Code]++
	default:
		t.Errorf("%s: %d %s", kind, status, body)
	}
}

// reset returns the counts and sets them to zero.
func (l *loader) reset() (loaded, refused map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	loaded, refused = l.loaded, l.refused
	l.loaded, l.refused = map[string]int{}, map[string]int{}
	return loaded, refused
}

func total(counts map[string]int) (n int) {
	for _, each := range counts {
		n += each
	}
	return n
}

// space makes a space.
func (l *loader) space(t testing.TB, name, description string) job {
	t.Helper()
	return func() (string, int, []byte, error) {
		return answered("space")(l.CreateSpace(t.Context(), project, nil, client.SpaceCreate{
			Metadata: client.CreateMetadata{Name: name}, Spec: &client.SpaceSpec{Description: description},
		}))
	}
}

// pool makes a root pool in a space, or a child of a pool.
func (l *loader) pool(t testing.TB, name, space, parent string, spec client.IPPoolSpec) job {
	t.Helper()
	kind := "child pool"
	if parent == "" {
		kind, spec.SpaceRef = "root pool", &client.Ref{Name: space}
	} else {
		spec.ParentRef = &client.Ref{Name: parent}
	}
	return func() (string, int, []byte, error) {
		return answered(kind)(l.CreatePool(t.Context(), project, nil, client.IPPoolCreate{Metadata: client.CreateMetadata{Name: name}, Spec: spec}))
	}
}

// address claims one address of a pool.
func (l *loader) address(t testing.TB, name, pool, address string) job {
	t.Helper()
	return func() (string, int, []byte, error) {
		return answered("address")(l.CreateClaim(t.Context(), project, nil, client.IPClaimCreate{
			Metadata: client.CreateMetadata{Name: name},
			Spec:     client.IPClaimSpec{PoolRef: &client.Ref{Name: pool}, Address: address},
		}))
	}
}
