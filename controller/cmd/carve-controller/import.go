package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/whereabouts"
)

// importCommand is the first argument that selects the import.
const importCommand = "import-whereabouts"

const importUsage = `carve-controller import-whereabouts imports the addresses of pods from the records of whereabouts: it creates an IPClaim for each address, and the
controller allocates the address in Carve. Without --dry-run=false it changes nothing. It can be repeated, and exits with 4 if a record was not imported.

`

// importer has the settings for the import.
type importer struct {
	settings
	files, pool string
	dryRun      bool
	wait        time.Duration
}

// importWhereabouts runs the import command and returns its exit code.
func importWhereabouts(args, environ []string, stdout, stderr io.Writer) int {
	var s importer
	f := flag.NewFlagSet(importCommand, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		_, _ = fmt.Fprint(stderr, importUsage)
		f.PrintDefaults()
	}
	config.RegisterFlags(f)
	s.connected(f)
	f.StringVar(&s.project, "project", "", "Carve project that claims")
	f.StringVar(&s.pool, "pool", "", "pool for all addresses (default: the project's smallest pool that contains the address)")
	f.StringVar(&s.files, "files", "", "comma-separated files with the output of kubectl get -o json (default: read the objects from the cluster)")
	f.BoolVar(&s.dryRun, "dry-run", true, "only report the changes")
	f.DurationVar(&s.wait, "wait", time.Minute, "maximum time to wait for the controller")
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = fromEnvironment(f, environ)
	}
	if err == nil && (s.carve == "" || s.project == "" || f.NArg() > 0) {
		err = errors.New("--carve and --project are required; use only flags, no other arguments")
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "carve-controller: %v\n", err)
		return 2
	}
	complete, err := s.run(ctrl.SetupSignalHandler(), stdout)
	const notAll = 4
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "carve-controller: %v\n", err)
		return 1
	case !complete:
		return notAll
	}
	return 0
}

// run imports the records. It returns true if it took over every record. In a dry run, it returns true if it could take over every record.
func (s *importer) run(ctx context.Context, stdout io.Writer) (complete bool, err error) {
	s.workers = 1
	toCarve, _, err := s.toCarve()
	if err != nil {
		return false, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), ipam.AddToScheme(scheme)); err != nil {
		return false, err
	}
	to, err := ctrl.GetConfig()
	if err != nil {
		return false, err
	}
	live, err := client.New(to, client.Options{Scheme: scheme})
	if err != nil {
		return false, err
	}
	objects, err := s.objects(ctx, live)
	if err != nil {
		return false, err
	}
	records, err := whereabouts.Records(objects)
	if err != nil {
		return false, err
	}
	i := whereabouts.Importer{Live: live, Carve: toCarve, Project: s.project, Pool: s.pool, DryRun: s.dryRun, Wait: s.wait}
	results, err := i.Run(ctx, records)
	return show(stdout, results), err
}

func (s *importer) objects(ctx context.Context, live client.Client) (objects []json.RawMessage, err error) {
	if s.files == "" {
		return whereabouts.InCluster(ctx, live)
	}
	for file := range strings.SplitSeq(s.files, ",") {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		some, err := whereabouts.Objects(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, some...)
	}
	return objects, nil
}

// show prints a line for each record and the number of records for each outcome. It returns true if every record was taken over. In a dry run, it
// returns true if every record could be taken over.
func show(stdout io.Writer, results []whereabouts.Result) (complete bool) {
	const gap = 2
	table := tabwriter.NewWriter(stdout, 0, 0, gap, ' ', 0)
	_, _ = fmt.Fprintln(table, "OUTCOME\tADDRESS\tPOD\tINTERFACE\tRECORD\tWHY")
	counts := map[whereabouts.Outcome]int{}
	for _, r := range results {
		address := "-"
		if r.Address.IsValid() {
			address = r.Address.String()
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Outcome, address, r.Pod, r.Interface, r.Source, r.Why)
		counts[r.Outcome]++
	}
	_ = table.Flush()
	for _, outcome := range []whereabouts.Outcome{
		whereabouts.WouldTake, whereabouts.Taken, whereabouts.Waiting, whereabouts.Unproven, whereabouts.Refused,
	} {
		if n := counts[outcome]; n > 0 {
			_, _ = fmt.Fprintf(stdout, "%d %s\n", n, outcome)
		}
	}
	return counts[whereabouts.WouldTake]+counts[whereabouts.Taken] == len(results)
}
