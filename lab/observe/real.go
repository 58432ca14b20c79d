package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/lab/tool"
)

// Panels that may be empty on healthy servers, with the reason.
var mayBeEmpty = map[string]string{
	"Background jobs: failed runs": "no job fails here",
	"Attempts with an error":       "no statement has an error here",
}

// The alerts that the load must cause, and the alerts that it must not cause. A pending alert counts as caused, because alerts wait before they fire.
var (
	expected   = []string{"CarvePoolFull", "CarveClaimsFindNoSpace", "CarveTooMuchLoad", "CarveErrorBudgetBurnFast", "CarveCertificateExpires"}
	unexpected = []string{"CarveDown", "CarvePoolFenced", "CarveJobStale", "CarveRestarts", "CarveTelemetryNotExported", "CarveOutcomesUnknown", "CarveClientConnectionsAtLimit", "CarveCertificateNotReloaded"}
)

// onRealData evaluates all rules and panels on the metrics of two servers under load.
func onRealData(ctx context.Context, o options, rules []rule, panels []panel, out io.Writer) (err error) {
	dir, err := tool.TempDir("carve-observe-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := devdb.Start(ctx, devdb.Config{DataDir: filepath.Join(dir, "data")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Stop(context.WithoutCancel(ctx))) }()
	if said, err := exec.CommandContext(ctx, o.ipamctl, "migrate", "--database-url="+db.DSN(), "--regions=eu,us").CombinedOutput(); err != nil { //nolint:gosec // the program under test
		return fmt.Errorf("ipamctl migrate: %w\n%s", err, said)
	}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusOK)
	}))
	defer collector.Close()
	d, err := newDoor(dir)
	if err != nil {
		return err
	}
	eu, err := startServer(ctx, o.server, db.DSN(), "eu", collector.URL, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eu.Stop()) }()
	us, err := startServer(ctx, o.server, db.DSN(), "us", collector.URL, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, us.Stop()) }()
	p, err := startPrometheus(ctx, dir, []string{eu.Addr(), us.Addr()}, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	l := newLoad(eu.Addr(), us.Addr(), d)
	if err := l.furnish(ctx); err != nil {
		return err
	}
	loaded, done := context.WithTimeout(ctx, o.duration)
	defer done()
	l.run(loaded)
	return errors.Join(judgeRules(ctx, p, rules, panels, out), judgePanels(ctx, p, panels, out))
}

// judgeRules checks that each metric exists, that Prometheus evaluated each rule, and that the right alerts are active.
func judgeRules(ctx context.Context, p *prometheus, rules []rule, panels []panel, out io.Writer) error {
	var errs []error
	for _, name := range metrics(rules, panels) {
		n, err := p.series(ctx, name)
		if n == 0 {
			err = errors.Join(err, fmt.Errorf("there is no metric %s", name))
		}
		errs = append(errs, err)
	}
	all, err := p.rules(ctx)
	if err != nil {
		return err
	}
	if len(all) != len(rules) {
		errs = append(errs, fmt.Errorf("%d rules are evaluated, and there are %d", len(all), len(rules)))
	}
	var active []string
	for _, r := range all {
		if r.Health != "ok" {
			errs = append(errs, fmt.Errorf("rule %s is %s: %s", r.Name, r.Health, r.LastError))
		}
		if r.State == "pending" || r.State == "firing" {
			active = append(active, r.Name)
		}
	}
	_, _ = fmt.Fprintf(out, "%d rules are evaluated; active under this load: %s\n", len(all), strings.Join(active, ", "))
	for _, name := range expected {
		if !slices.Contains(active, name) {
			errs = append(errs, fmt.Errorf("this load gives reason for alert %s", name))
		}
	}
	for _, name := range unexpected {
		if slices.Contains(active, name) {
			errs = append(errs, fmt.Errorf("there is no reason for alert %s", name))
		}
	}
	return errors.Join(errs...)
}

// judgePanels checks that each expression of each panel returns data.
func judgePanels(ctx context.Context, p *prometheus, panels []panel, out io.Writer) error {
	var errs []error
	shown := 0
	for _, each := range panels {
		n, err := p.series(ctx, each.expr)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s, %s: %w", each.dashboard, each.title, err))
		case n > 0:
			shown++
		case mayBeEmpty[each.title] == "":
			errs = append(errs, fmt.Errorf("%s, %s shows nothing: %s", each.dashboard, each.title, each.expr))
		default:
			_, _ = fmt.Fprintf(out, "%s, %s shows nothing: %s\n", each.dashboard, each.title, mayBeEmpty[each.title])
		}
	}
	_, _ = fmt.Fprintf(out, "%d of %d expressions of the dashboards have something to show\n", shown, len(panels))
	return errors.Join(errs...)
}
