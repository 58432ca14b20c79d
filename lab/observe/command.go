// Package observe checks the alert rules and dashboards of helm/carve against real servers. First promtool checks the rules and runs their tests.
// Then the package starts two servers in two regions on one database and puts them under load. A real Prometheus scrapes them and evaluates each
// expression. See docs/slo.md.
package observe

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/carve-ipam/carve/lab/tool"
)

const (
	rulesFile      = "helm/carve/alerts/carve.rules.yaml"
	ruleTests      = "helm/carve/alerts/*_test.yaml"
	dashboardFiles = "helm/carve/dashboards/*.json"
)

type options struct {
	server, ipamctl string
	duration        time.Duration
	rulesOnly       bool
}

// Run runs the command.
func Run(ctx context.Context, args []string) error { return run(ctx, args, os.Stdout) }

func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	f := flag.NewFlagSet("observe", flag.ContinueOnError)
	f.StringVar(&o.server, "server", "bin/server", "the server's program")
	f.StringVar(&o.ipamctl, "ipamctl", "bin/ipamctl", "the program that migrates")
	f.DurationVar(&o.duration, "time", 40*time.Second, "how long the servers are loaded")
	f.BoolVar(&o.rulesOnly, "rules-only", false, "check the rules and run their tests, and no more")
	if err := tool.Parse(f, args); err != nil {
		return err
	}
	rules, err := readRules(rulesFile)
	if err != nil {
		return err
	}
	panels, err := readPanels(dashboardFiles)
	if err != nil {
		return err
	}
	if err := testRules(ctx, rules, out); err != nil || o.rulesOnly {
		return err
	}
	return onRealData(ctx, o, rules, panels, out)
}

// testRules checks the rules and runs their tests with promtool. Each alert needs two tests: one in which it fires, and one in which it does not.
func testRules(ctx context.Context, rules []rule, out io.Writer) error {
	tests, err := filepath.Glob(ruleTests)
	if err != nil {
		return err
	}
	if err := everyAlertIsTested(rules, tests); err != nil {
		return err
	}
	for _, args := range [][]string{{"check", "rules", rulesFile}, append([]string{"test", "rules"}, tests...)} {
		cmd := exec.CommandContext(ctx, program("promtool"), args...) //nolint:gosec // Debian's program
		said, err := cmd.CombinedOutput()
		_, _ = out.Write(said)
		if err != nil {
			return fmt.Errorf("promtool %s: %w", args[0], err)
		}
	}
	return nil
}

// program returns the path of a Prometheus program.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return filepath.Join("bin", "prometheus", "usr", "bin", name)
}
