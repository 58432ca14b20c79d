package transfer

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// input is what is read, and by which mapping.
type input struct {
	p           *session.Program
	of          string
	url         string
	mappingFile string
	onDuplicate string
	onOverlap   string
	roots       []string
}

func (m *input) flags(f *pflag.FlagSet) {
	f.StringVar(&m.mappingFile, "mapping", "", "`FILE` that says what becomes of which rows")
	const otherwise = " (default: what the mapping says, or refuse)"
	f.StringVar(&m.onDuplicate, "on-duplicate", "", "rows with the same block: "+strings.Join(rules.Policies("onDuplicate"), ", ")+otherwise)
	f.StringVar(&m.onOverlap, "on-overlap", "", "rows that overlap: "+strings.Join(rules.Policies("onOverlap"), ", ")+otherwise)
	f.StringArrayVar(&m.roots, "root", nil, "a pool `NAME=CIDR` to make around everything in it (repeatable)")
}

func (m *input) urlFlag(f *pflag.FlagSet) {
	f.StringVar(&m.url, "url", "", "base `URL` of a NetBox to read from; the token is in the environment variable NETBOX_TOKEN")
}

// mapping is the one of the file, or the preset, with what the flags say.
func (m *input) mapping() (mapping rules.Mapping, err error) {
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

// records reads the source: files, or a NetBox that answers.
func (m *input) records(ctx context.Context, mapping rules.Mapping, paths []string) ([]source.Record, error) {
	if m.url != "" {
		if len(paths) > 0 {
			return nil, exit.Usagef("give files or --url, not both")
		}
		return m.live(ctx)
	}
	if len(paths) == 0 {
		return nil, exit.Usagef("which files? Give those to read, or - for standard input")
	}
	files := make([]source.File, len(paths))
	for n, path := range paths {
		text, err := m.p.Read(path)
		if err != nil {
			return nil, exit.Usagef("cannot read the file: %v", err)
		}
		files[n] = source.File{Name: path, Text: text, Columns: mapping.Columns}
	}
	records, err := source.Readers[m.of](files)
	if err != nil {
		return nil, exit.Usagef("%v", err)
	}
	return records, nil
}

// live reads a NetBox that answers.
func (m *input) live(ctx context.Context) ([]source.Record, error) {
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
