package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/carve-ipam/carve/lab/loopback"
	"github.com/carve-ipam/carve/lab/serverproc"
)

// prometheus is a running Prometheus.
type prometheus struct {
	*serverproc.Process
	url string
}

// startPrometheus starts a Prometheus that scrapes servers and evaluates the rules each second.
func startPrometheus(ctx context.Context, dir string, servers []string, d *door) (*prometheus, error) {
	addresses, err := loopback.Free(ctx, 1)
	if err != nil {
		return nil, err
	}
	rules, err := filepath.Abs(rulesFile)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf(`global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs: [{job_name: carve, scheme: https, tls_config: {ca_file: %q}, static_configs: [{targets: ["%s"]}]}]
`, rules, d.ca, strings.Join(servers, `","`))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(program("prometheus"), "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), //nolint:gosec,noctx // Debian's program, ended by Stop
		"--web.listen-address="+addresses[0], "--log.level=error")
	cmd.Stderr = os.Stderr
	running, err := serverproc.Spawn(cmd, time.Minute)
	if err != nil {
		return nil, err
	}
	p := &prometheus{Process: running, url: "http://" + addresses[0]}
	if err := p.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// awaitReady waits until Prometheus is ready.
func (p *prometheus) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/-/ready", http.NoBody); err == nil {
			if w, err := http.DefaultClient.Do(r); err == nil {
				if w.Body.Close() == nil && w.StatusCode == http.StatusOK {
					return nil
				}
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("prometheus did not become ready")
		case <-p.Ended():
			return errors.New("prometheus ended")
		case <-tick.C:
		}
	}
}

// ask sends a request to the API of Prometheus.
func (p *prometheus) ask(ctx context.Context, path string, query url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	answer := struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   any    `json:"data"`
	}{Data: into}
	if err := json.NewDecoder(w.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", query.Get("query"), answer.Error)
	}
	return nil
}

// series returns the number of time series that an expression has now.
func (p *prometheus) series(ctx context.Context, expr string) (int, error) {
	var data struct {
		Result []json.RawMessage `json:"result"`
	}
	err := p.ask(ctx, "/api/v1/query", url.Values{"query": {expr}}, &data)
	return len(data.Result), err
}

// evaluated is the state of a rule.
type evaluated struct {
	Name      string `json:"name"`
	Health    string `json:"health"`
	LastError string `json:"lastError"`
	State     string `json:"state"` // for an alert: inactive, pending or firing
}

func (p *prometheus) rules(ctx context.Context) (all []evaluated, err error) {
	var data struct {
		Groups []struct {
			Rules []evaluated `json:"rules"`
		} `json:"groups"`
	}
	if err := p.ask(ctx, "/api/v1/rules", nil, &data); err != nil {
		return nil, err
	}
	for _, g := range data.Groups {
		all = append(all, g.Rules...)
	}
	return all, nil
}
