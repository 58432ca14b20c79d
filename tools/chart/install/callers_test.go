package install

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
)

// hearsay is the time until all clients use a new list of serving pods. kube-proxy in a cluster takes about as long.
const hearsay = time.Second

// service simulates a Service: it chooses among the pods that served a moment ago.
type service struct {
	mu    sync.Mutex
	pods  []string // addresses of the serving pods
	turns int
	told  int // number of updates; an update that arrives late is older than the known one
	known int
}

// saw receives all pods after each change.
func (s *service) saw(pods []core.Pod) {
	var serving []string
	for _, pod := range pods {
		if pod.Labels["app.kubernetes.io/component"] == "server" && pod.DeletionTimestamp == nil && readySince(&pod) != nil {
			serving = append(serving, pod.Status.PodIP)
		}
	}
	s.mu.Lock()
	s.told++
	turn := s.told
	s.mu.Unlock()
	time.AfterFunc(hearsay, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if turn > s.known {
			s.pods, s.known = serving, turn
		}
	})
}

func (s *service) next() (ip string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pods) == 0 {
		return "", false
	}
	s.turns++
	return s.pods[s.turns%len(s.pods)], true
}

// dial opens connections for clients that use the Service by its name.
func (s *service) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ip, ok := s.next()
	if !ok {
		return nil, fmt.Errorf("no pod serves %s", address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(ip, "8080"))
}

// crowd claims one address after another from several clients until it is stopped.
type crowd struct {
	name   string
	client *http.Client
	url    string
	token  string
	stop   chan struct{}
	wg     sync.WaitGroup

	mu     sync.Mutex
	claims int
	wrong  []string
}

func (c *crowd) start(t *testing.T, callers int) {
	t.Helper()
	for i := range callers {
		c.wg.Go(func() {
			pace := time.NewTicker(50 * time.Millisecond)
			defer pace.Stop()
			for n := 0; ; n++ {
				select {
				case <-c.stop:
					return
				case <-t.Context().Done():
					return
				case <-pace.C:
					c.claim(t.Context(), fmt.Sprintf("%s-%d-%d", c.name, i, n))
				}
			}
		})
	}
}

func (c *crowd) claim(ctx context.Context, name string) {
	status, body, err := call(ctx, c.client, http.MethodPost, c.url, c.token, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"poolRef":{"name":"everybody"},"prefixLength":32}}`, name))
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		c.wrong = append(c.wrong, err.Error())
	case status != http.StatusCreated:
		c.wrong = append(c.wrong, fmt.Sprintf("%d %s", status, body))
	default:
		c.claims++
	}
}

// end stops all clients and returns their results.
func (c *crowd) end() (claims int, wrong []string) {
	close(c.stop)
	c.wg.Wait()
	return c.claims, c.wrong
}

func call(ctx context.Context, client *http.Client, method, url, token, body string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost { // like the project's clients, so that a request that was cut off can be repeated
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}
