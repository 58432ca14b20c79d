package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// rule is an alerting rule or a recording rule.
type rule struct {
	Alert       string            `yaml:"alert"`
	Record      string            `yaml:"record"`
	Expr        string            `yaml:"expr"`
	Annotations map[string]string `yaml:"annotations"`
}

// readRules reads the rules. It requires an existing runbook for each alert.
func readRules(file string) (all []rule, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var content struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, g := range content.Groups {
		for _, r := range g.Rules {
			all = append(all, r)
			if r.Alert == "" {
				continue
			}
			runbook := r.Annotations["runbook_url"]
			at := strings.Index(runbook, "/docs/runbooks/")
			if at < 0 {
				return nil, fmt.Errorf("alert %s has no runbook", r.Alert)
			}
			if _, err := os.Stat("." + runbook[at:]); err != nil {
				return nil, fmt.Errorf("the runbook of alert %s: %w", r.Alert, err)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no rule", file)
	}
	return all, nil
}

// everyAlertIsTested requires two tests for each alert: one that expects the alert, and one that expects no alert.
func everyAlertIsTested(rules []rule, files []string) error {
	var text strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		text.Write(data)
	}
	var errs []error
	for _, r := range rules {
		if r.Alert == "" {
			continue
		}
		for what, wanted := range map[string]string{
			"fires":     fmt.Sprintf(`count(ALERTS{alertname=%q,alertstate="firing"})`, r.Alert),
			"is silent": fmt.Sprintf(`'ALERTS{alertname=%q,alertstate="firing"}'`, r.Alert),
		} {
			if !strings.Contains(text.String(), wanted) {
				errs = append(errs, fmt.Errorf("no test shows when alert %s %s", r.Alert, what))
			}
		}
	}
	return errors.Join(errs...)
}

// panel is one expression of one panel of a dashboard.
type panel struct{ dashboard, title, expr string }

// readPanels reads the expressions of all dashboards and replaces Grafana's variables.
func readPanels(pattern string) (all []panel, err error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	filled := strings.NewReplacer("$__rate_interval", "30s", "$instance", ".*", "$region", ".*")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var d struct {
			Title  string `json:"title"`
			Panels []struct {
				Title   string `json:"title"`
				Targets []struct {
					Expr string `json:"expr"`
				} `json:"targets"`
			} `json:"panels"`
		}
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, p := range d.Panels {
			for _, t := range p.Targets {
				all = append(all, panel{d.Title, p.Title, filled.Replace(t.Expr)})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is no dashboard with a panel", pattern)
	}
	return all, nil
}

// label has the form of a metric's name in the expressions, but it is a label.
const label = "db_client_connection_state"

// ours matches the metrics of the servers. The names of recorded series begin with "carve:".
var ours = regexp.MustCompile(`\b(?:carve_|http_server_|db_client_|process_|go_)[a-z_]+`)

// metrics returns the names of all metrics in the expressions.
func metrics(rules []rule, panels []panel) []string {
	var names []string
	add := func(expr string) { names = append(names, ours.FindAllString(expr, -1)...) }
	for _, r := range rules {
		add(r.Expr)
	}
	for _, p := range panels {
		add(p.expr)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == label })
}
