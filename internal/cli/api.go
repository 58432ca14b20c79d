package cli

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// calling are the flags of `api`.
type calling struct {
	session.Writing
	file, match string
	pages       bool
}

func apiCommand(p *session.Program) *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "api [METHOD] PATH",
		Short: "Send any request of the API",
		Long: `Sends a request with the server, the credential and the repeats of every other verb, and prints the answer: JSON, or what -o says. PATH
begins behind /v1 and may have a query; {project} in it is the project of --project. METHOD is GET, or POST with --file.`,
		Example: `  ipamctl api projects/{project}/pools?limit=2 -o jsonpath='{.items[*].metadata.name}'
  ipamctl api projects/{project}/claims --pages
  ipamctl api PATCH projects/{project}/pools/prod -f - --if-match '*' <<<'{"spec":{"description":"Production"}}'`,
		Args:              verbs.Arguments("the path of a request", 1, 2, func(string) error { return nil }),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.StringVarP(&c.file, "file", "f", "", "`FILE` with the body, YAML or JSON, - for standard input")
	f.StringVar(&c.match, "if-match", "", "only this revision: the `ETAG`, or *")
	f.StringVar(&c.Key, "idempotency-key", "", "`KEY` of a POST (default: a new one)")
	f.BoolVar(&c.pages, "pages", false, "all pages of a list")
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error { return c.call(ctx, p, args) })
	return cmd
}

func (c calling) call(ctx context.Context, p *session.Program, args []string) error {
	r := session.Request{Method: http.MethodGet, Match: c.match}
	if c.file != "" {
		r.Method = http.MethodPost
		body, err := p.File(c.file)
		if err != nil {
			return err
		}
		r.Body = body
	}
	if len(args) == 2 {
		r.Method = strings.ToUpper(args[0])
	}
	where := args[len(args)-1]
	open := p.Session
	if strings.Contains(where, "{project}") {
		open = p.InProject
	}
	s, err := open()
	if err != nil {
		return err
	}
	if err := pathOf(&r, strings.ReplaceAll(where, "{project}", s.Project)); err != nil {
		return err
	}
	var a session.Answer
	switch {
	case c.pages && r.Method != http.MethodGet:
		return exit.Usagef("--pages is about lists, which are read with GET, not %s", r.Method)
	case c.pages:
		list, err := s.Pages(ctx, session.Paging{}, func(ctx context.Context, paging session.Query) (session.Answer, error) {
			return s.Ask(ctx, session.Request{Path: r.Path, Query: append(r.Query, paging...)})
		})
		if err != nil {
			return err
		}
		return p.DocumentOf(list)
	case r.Method == http.MethodPost:
		a, err = s.Post(ctx, c.Writing, r)
	case r.Method == http.MethodGet, r.Method == http.MethodDelete:
		a, err = s.Ask(ctx, r)
	case r.Method == http.MethodPut, r.Method == http.MethodPatch:
		a, err = s.Change(ctx, r, "")
	default:
		return exit.Usagef("%q is no method of the API: GET, POST, PUT, PATCH, DELETE", r.Method)
	}
	if err != nil || len(a.Body) == 0 {
		return err
	}
	return p.Document(a.Body)
}

// pathOf takes a path apart: its elements, and its query.
func pathOf(r *session.Request, where string) error {
	path, query, _ := strings.Cut(where, "?")
	path = strings.TrimPrefix(strings.TrimPrefix(path, "/"), "v1/")
	for element := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(element)
		if err != nil || plain == "" || plain == "." || plain == ".." {
			return exit.Usagef("%q is no path of the API: it is like projects/shop/pools", where)
		}
		r.Path = append(r.Path, plain)
	}
	for parameter := range strings.SplitSeq(query, "&") {
		if parameter != "" {
			r.Query = append(r.Query, parameter)
		}
	}
	return nil
}
