package transfer

import (
	"context"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// input has the source to read and its mapping.
type input struct {
	p           *session.Program
	of          string
	url         string
	mappingFile string
	onDuplicate string
	onOverlap   string
	roots       []string
	encoding    string
	reportFile  string
	dry         bool
	parallel    int
}

// flags adds the flags that all commands with a source have. live adds the flag for a live source.
func (m *input) flags(f *pflag.FlagSet, live bool) {
	f.StringVar(&m.mappingFile, "mapping", "", "`FILE` with the rules for the rows")
	const otherwise = " (default: the policy in the mapping, or refuse)"
	f.StringVar(&m.onDuplicate, "on-duplicate", "", "rows with the same block: "+strings.Join(rules.Policies("onDuplicate"), ", ")+otherwise)
	f.StringVar(&m.onOverlap, "on-overlap", "", "rows that overlap: "+strings.Join(rules.Policies("onOverlap"), ", ")+otherwise)
	f.StringVar(&m.encoding, "encoding", "", "`NAME` of the encoding of the files, such as latin1 or windows-1252 (default: by the byte order mark, or UTF-8)")
	f.StringArrayVar(&m.roots, "root", nil, "a pool `NAME=CIDR` to create around everything in it (repeatable)")
	f.StringVar(&m.reportFile, "report", "", "write the outcome of every row to this `FILE`, .csv or .json")
	f.IntVar(&m.parallel, "parallel", 4, "maximum number of concurrent `REQUESTS`")
	if live {
		f.StringVar(&m.url, "url", "", "base `URL` of a live NetBox to read; the environment variable NETBOX_TOKEN has its token")
	}
}

// readMapping returns the mapping in the file, or the source's default mapping. It also applies the flags to this mapping.
func (m *input) readMapping() (mapping rules.Mapping, err error) {
	if m.parallel < 1 || m.parallel > 64 {
		return mapping, exit.Usagef("--parallel must be between 1 and 64")
	}
	mapping = rules.Preset(m.of)
	if m.mappingFile != "" {
		text, err := m.p.Read(m.mappingFile)
		if err != nil {
			return mapping, exit.Usagef("cannot read the mapping: %v", err)
		}
		if mapping, err = rules.Read(m.mappingFile, m.of, text); err != nil {
			return mapping, err
		}
	}
	mapping.OnDuplicate, mapping.OnOverlap = first(m.onDuplicate, mapping.OnDuplicate), first(m.onOverlap, mapping.OnOverlap)
	for _, text := range m.roots {
		name, cidr, found := strings.Cut(text, "=")
		if !found {
			return mapping, exit.Usagef("--root %s: it must be NAME=CIDR", text)
		}
		mapping.Roots = append(mapping.Roots, rules.Root{Name: name, CIDR: cidr})
	}
	if err := mapping.Check(); err != nil {
		return mapping, exit.Usagef("%v", err)
	}
	return mapping, nil
}

// frugal makes the garbage collector run more often while many rows are in memory. The rows stay until the end. The collector normally waits until
// the heap has doubled, which would take too much memory here.
func frugal() (over func()) {
	const percent = 10
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// read reads the source and prints its warnings. If the mapping and the source do not fit together, it returns an error.
func (m *input) read(ctx context.Context, mapping rules.Mapping, paths []string) (*source.Reading, error) {
	reading, err := m.records(ctx, mapping, paths)
	if err != nil {
		return nil, err
	}
	if m.mappingFile != "" {
		if err := m.named(mapping, reading); err != nil {
			return nil, err
		}
	}
	if err := m.unused(mapping, reading); err != nil {
		return nil, err
	}
	for _, note := range slices.Concat(reading.Notes, reading.Missing) {
		m.p.Note("warning: %s", note)
	}
	return reading, nil
}

// records reads the files or, with --url, a running NetBox.
func (m *input) records(ctx context.Context, mapping rules.Mapping, paths []string) (reading *source.Reading, err error) {
	if m.url != "" {
		if len(paths) > 0 {
			return nil, exit.Usagef("give files or --url, not both")
		}
		return m.live(ctx)
	}
	if len(paths) == 0 {
		return nil, exit.Usagef("no files are given: name the files to read, or - for standard input")
	}
	encoding, err := source.EncodingOf(m.encoding)
	if err != nil {
		return nil, exit.Usagef("--encoding: %v", err)
	}
	files, texts := make([]source.File, 0, len(paths)), make([]*opened, 0, len(paths))
	defer func() {
		for _, text := range texts {
			if failed := text.close(); err == nil {
				err = failed
			}
		}
	}()
	for _, path := range paths {
		text, failed := open(m.p, path)
		if failed != nil {
			return nil, exit.Usagef("cannot read the file: %v", failed)
		}
		texts = append(texts, text)
		files = append(files, source.File{Name: path, Text: text, Encoding: encoding, Columns: mapping.Columns})
	}
	if reading, err = source.Read(m.of, files); err != nil {
		return nil, unreadable{err}
	}
	for _, text := range texts {
		if err := text.unchanged(); err != nil {
			return nil, unreadable{err}
		}
	}
	return reading, nil
}

// unreadable is the error for a file that cannot be read. It has the same exit code as a wrong command line.
type unreadable struct{ error }

func (unreadable) ExitCode() int { return exit.Usage }

func (e unreadable) Unwrap() error { return e.error }

// named returns an error if the mapping has a field that no row can have. It always allows the fields in the default mapping, even if the source has
// no value for them now. A tag is known only if a row has it. For an unknown tag, named therefore only prints a warning.
func (m *input) named(mapping rules.Mapping, reading *source.Reading) error {
	known := map[string]bool{}
	preset := rules.Preset(m.of)
	for _, u := range preset.Uses() {
		known[u.Field] = true
	}
	for _, u := range mapping.Uses() {
		switch {
		case known[u.Field] || reading.CanHave(u.Field):
		case strings.HasPrefix(u.Field, "tag:"):
			m.p.Note("warning: %s: no row has the field %s, which %s names", m.mappingFile, u.Field, u.Where)
		default:
			return exit.Usagef("%s: %s names the field %s, but no row of the source has it: --write-mapping lists the fields of the source", m.mappingFile, u.Where, u.Field)
		}
	}
	return nil
}

// unused prints notes about columns that nothing reads. If such a column looks like a mistyped known one, it returns an error.
func (m *input) unused(mapping rules.Mapping, reading *source.Reading) error {
	used := map[string]bool{}
	for _, u := range mapping.Uses() {
		used[u.Field] = true
	}
	ignored := map[string][]string{}
	var files []string
	for _, u := range reading.Unknown {
		switch {
		case used[u.Name]:
			continue
		case u.Like != "":
			return exit.Usagef("%s: nothing uses the column %q: did you mean %q? Rename it, or add `columns: {%s: %s}` or a label from it to a mapping", u.File, u.Title, u.Like, u.Like, u.Title)
		}
		if ignored[u.File] == nil {
			files = append(files, u.File)
		}
		ignored[u.File] = append(ignored[u.File], strconv.Quote(u.Title))
	}
	for _, file := range files {
		m.p.Note("warning: %s: nothing uses the columns %s: `labels` and `annotations` of a mapping can use them", file, strings.Join(ignored[file], ", "))
	}
	return nil
}

// live reads a running NetBox through its API.
func (m *input) live(ctx context.Context) (*source.Reading, error) {
	at, err := url.Parse(m.url)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, exit.Usagef("--url %s: it must be the URL of a NetBox, such as https://netbox.example.com", m.url)
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
	return source.Live{URL: at, Token: token, HTTP: h, Wait: func(ctx context.Context, resp *http.Response) error {
		if tries++; tries > patience {
			return http.ErrHandlerTimeout
		}
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // a date counts as 0
		return m.p.Pause(ctx, max(time.Second, time.Duration(seconds)*time.Second))
	}}.Read(ctx)
}
