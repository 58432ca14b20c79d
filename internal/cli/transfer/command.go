package transfer

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// importing is one command line that imports.
type importing struct {
	p            *session.Program
	of           string
	url          string
	mappingFile  string
	writeMapping string
	reportFile   string
	onDuplicate  string
	onOverlap    string
	roots        []string
	dry          bool
	parallel     int
}

// what each source is, for the help.
var about = map[string]string{
	"netbox":      "NetBox: answers of its API, dumps of its database, the CSV of its lists, or a NetBox that answers (--url)",
	"csv":         "A CSV file of anybody, or what 'ipamctl export -o csv' wrote",
	"phpipam":     "phpIPAM: its exports of subnets and of addresses, saved as CSV",
	"infoblox":    "Infoblox NIOS: its CSV export",
	"aws":         "AWS IPAM: the JSON of describe-ipam-pools, get-ipam-pool-cidrs, get-ipam-pool-allocations and others; AWS' ip-ranges",
	"whereabouts": "Whereabouts: its IPPools, as kubectl get -o json writes them",
	"plan":        "An address plan whose blocks are all said, as 'ipamctl export -o plan' writes it",
}

// ImportCommand is `import`.
func ImportCommand(p *session.Program) *cobra.Command {
	var commands []*cobra.Command
	for _, of := range slices.Sorted(maps.Keys(about)) {
		commands = append(commands, importFrom(p, of))
	}
	return verbs.Group("import", "Bring in what another address manager knows", nil, commands...)
}

func importFrom(p *session.Program, of string) *cobra.Command {
	m := &importing{p: p, of: of}
	cmd := &cobra.Command{
		Use:   of + " FILE...",
		Short: about[of],
		Long: about[of] + `.

Reads everything, compares it with what the server has, and creates what is missing: spaces, pools, reservations and claims. Nothing
that exists is changed. Every row is accounted for: --report FILE.csv or FILE.json says of each what has become of it, and why. An
import that was cut is run again: it goes on where it was. --write-mapping writes what becomes of which rows into a file to edit, for --mapping.
Exit code 4: some rows were not taken.`,
		Example: "  ipamctl import " + of + " FILE... --write-mapping mapping.yaml\n  ipamctl import " + of +
			" FILE... --mapping mapping.yaml --dry-run\n  ipamctl import " + of + " FILE... --mapping mapping.yaml --report report.csv",
		RunE: p.Verb(m.run),
	}
	f := cmd.Flags()
	f.StringVar(&m.mappingFile, "mapping", "", "`FILE` that says what becomes of which rows")
	f.StringVar(&m.writeMapping, "write-mapping", "", "write the mapping that would be used to this `FILE` (- for standard output), and import nothing")
	f.StringVar(&m.reportFile, "report", "", "write what has become of every row to this `FILE`, .csv or .json")
	f.BoolVar(&m.dry, "dry-run", false, "show what would be done, and do nothing")
	const otherwise = " (default: what the mapping says, or refuse)"
	f.StringVar(&m.onDuplicate, "on-duplicate", "", "rows with the same block: "+strings.Join(policies("onDuplicate"), ", ")+otherwise)
	f.StringVar(&m.onOverlap, "on-overlap", "", "rows that overlap: "+strings.Join(policies("onOverlap"), ", ")+otherwise)
	f.StringArrayVar(&m.roots, "root", nil, "a pool `NAME=CIDR` to make around everything in it (repeatable)")
	f.IntVar(&m.parallel, "parallel", 4, "how many `REQUESTS` are under way at once")
	if of == "netbox" {
		f.StringVar(&m.url, "url", "", "base `URL` of a NetBox to read from; the token is in the environment variable NETBOX_TOKEN")
	}
	return cmd
}

func (m *importing) run(ctx context.Context, args []string) error {
	if m.parallel < 1 || m.parallel > 64 {
		return exit.Usagef("--parallel must be between 1 and 64")
	}
	mapping, records, err := m.read(ctx, args)
	if err != nil {
		return err
	}
	if m.writeMapping != "" {
		return m.writeOut(mapping, records)
	}
	m.p.Hushed = true
	m.p.Aside = &locked{to: m.p.Aside}
	s, err := m.p.InProject()
	if err != nil {
		return err
	}
	w, err := wish(mapping, s.Project, records)
	if err != nil {
		return exit.Usagef("%v", err)
	}
	plan, err := prepare(ctx, s, w)
	if err != nil {
		return err
	}
	return m.carryOut(ctx, s, plan)
}

// carryOut does what the plan says, unless it is a dry run or a policy refuses it, and reports.
func (m *importing) carryOut(ctx context.Context, s *session.Session, plan *plan) error {
	var failed error
	begun := !m.dry && !plan.refused
	if begun {
		total := 0
		for _, level := range slices.Concat(plan.create, plan.claims) {
			total += len(level)
		}
		r := &run{Session: s, plan: plan, parallel: m.parallel, progress: newProgress(m.p, total)}
		failed = r.do(ctx)
		if said := r.progress.end(); said != "" {
			m.p.Remark("%s", said)
		}
	}
	out := account(plan.wishes, m.dry, !m.dry)
	if m.reportFile != "" {
		if err := out.write(m.reportFile); err != nil {
			return err
		}
	}
	if err := m.show(&out); err != nil {
		return err
	}
	if plan.refused {
		was := "was"
		if m.dry {
			was = "would be"
		}
		m.p.Note("nothing %s imported: some rows are duplicates or overlap; --on-duplicate and --on-overlap say which of them to take", was)
	}
	if failed != nil {
		if exit.CodeOf(failed) == exit.Unavailable || ctx.Err() != nil {
			m.p.Note("run it again: what was created is left as it is")
		}
		return failed
	}
	if out.open() > 0 {
		return exit.Verdict(exit.Conflict)
	}
	return nil
}

func (m *importing) show(out *report) error {
	if m.p.Structured() {
		return m.p.DocumentOf(out)
	}
	if m.p.Quiet {
		return nil
	}
	const most = 50
	return out.diff(m.p.Printer, most)
}

// read reads the mapping and the source.
func (m *importing) read(ctx context.Context, args []string) (mapping Mapping, records []source.Record, err error) {
	mapping = preset(m.of)
	if m.mappingFile != "" {
		text, err := m.p.Read(m.mappingFile)
		if err != nil {
			return mapping, nil, exit.Usagef("cannot read the mapping: %v", err)
		}
		if mapping, err = readMapping(m.mappingFile, m.of, text); err != nil {
			return mapping, nil, err
		}
	}
	mapping.OnDuplicate, mapping.OnOverlap = first(m.onDuplicate, mapping.OnDuplicate), first(m.onOverlap, mapping.OnOverlap)
	for _, text := range m.roots {
		name, cidr, found := strings.Cut(text, "=")
		if !found {
			return mapping, nil, exit.Usagef("--root %s: it must be NAME=CIDR", text)
		}
		mapping.Roots = append(mapping.Roots, Root{Name: name, CIDR: cidr})
	}
	if err := mapping.check(); err != nil {
		return mapping, nil, exit.Usagef("%v", err)
	}
	if m.url != "" {
		if len(args) > 0 {
			return mapping, nil, exit.Usagef("give files or --url, not both")
		}
		records, err = m.live(ctx)
		return mapping, records, err
	}
	if len(args) == 0 {
		return mapping, nil, exit.Usagef("import what? Give the files to read, or - for standard input")
	}
	files := make([]source.File, len(args))
	for n, path := range args {
		text, err := m.p.Read(path)
		if err != nil {
			return mapping, nil, exit.Usagef("cannot read the file: %v", err)
		}
		files[n] = source.File{Name: path, Text: text, Columns: mapping.Columns}
	}
	if records, err = source.Readers[m.of](files); err != nil {
		return mapping, nil, exit.Usagef("%v", err)
	}
	return mapping, records, nil
}

// live reads a NetBox that answers.
func (m *importing) live(ctx context.Context) ([]source.Record, error) {
	at, err := url.Parse(m.url)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, exit.Usagef("--url %s: it must be the URL of a NetBox, as https://netbox.example.com", m.url)
	}
	token := m.p.Env("NETBOX_TOKEN")
	if token != "" {
		if err := m.p.Guard(at); err != nil {
			return nil, err
		}
	}
	h, err := session.HTTPClient(m.p.Flags.CaFile)
	if err != nil {
		return nil, err
	}
	const patience = 20
	tries := 0
	return source.Live{URL: m.url, Token: token, HTTP: h, Wait: func(ctx context.Context, resp *http.Response) error {
		if tries++; tries > patience {
			return http.ErrHandlerTimeout
		}
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // a date is as good as nothing
		return m.p.Pause(ctx, max(time.Second, time.Duration(seconds)*time.Second))
	}}.Records(ctx)
}

// writeOut writes the mapping to a file, which must not be there yet: somebody may have edited it.
func (m *importing) writeOut(mapping Mapping, records []source.Record) error {
	text, err := mapping.write(records)
	if err != nil {
		return err
	}
	if m.writeMapping == "-" {
		return m.p.Write(text)
	}
	f, err := os.OpenFile(m.writeMapping, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return exit.Usagef("cannot write the mapping: %v", err)
	}
	if _, err = f.Write(text); err == nil {
		err = f.Close()
	}
	if err == nil {
		m.p.Remark("%s says what becomes of %s: edit it, and import with --mapping %s", m.writeMapping, show.CountOf(len(records), "row"), m.writeMapping)
	}
	return err
}
