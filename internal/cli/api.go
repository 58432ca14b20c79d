package cli

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// calling has the flags for the command `api`. They have the same names as in `gh api`.
type calling struct {
	session.Writing
	method, input, match string
	texts, values        []string
	paginate, include    bool
}

func apiCommand(p *session.Program) *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "api [METHOD] PATH",
		Short: "Send any request of the API",
		Long: `Sends a request with the server, the credential and the retries of every other verb, and prints the response: JSON, or the format of -o.
PATH starts after /v1 and may have a query; {project} in it stands for the project of --project. METHOD defaults to GET, or to POST with
fields or --input.

Fields become members of the body, or of the query of a GET. A key can have several levels: -F spec[prefixLength]=24,
-f spec[classNames][]=nodes.`,
		Example: `  ipamctl api projects/{project}/pools -f limit=2 -o jsonpath='{.items[*].metadata.name}'
  ipamctl api projects/{project}/claims --paginate
  ipamctl api projects/{project}/pools -f metadata[name]=lab -f spec[cidr]=10.3.0.0/16
  ipamctl api -X PATCH projects/{project}/pools/lab --if-match '*' -f spec[description]=Laboratory
  ipamctl api projects/{project}/claim-batches --input claims.yaml`,
		Args:              verbs.Arguments("the path of a request", 1, 2, func(string) error { return nil }),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.StringVarP(&c.method, "method", "X", "", "the `METHOD`, which may also precede the path")
	f.StringArrayVarP(&c.texts, "raw-field", "f", nil, "`KEY=TEXT`: a text member (repeatable)")
	f.StringArrayVarP(&c.values, "field", "F", nil, "`KEY=VALUE`: a member with the value true, false, null, a whole number, or else a text; @FILE reads the text from a file (repeatable)")
	f.StringVar(&c.input, "input", "", "`FILE` with the body, YAML or JSON, - for standard input")
	f.StringVar(&c.match, "if-match", "", "require this revision: the `ETAG`, or *")
	f.StringVar(&c.Key, "idempotency-key", "", "idempotency `KEY` of a POST (default: a new one)")
	f.BoolVar(&c.paginate, "paginate", false, "read all pages of a list, and print them as one list")
	f.BoolVarP(&c.include, "include", "i", false, "print the status and the headers of the response before its body")
	verbs.CompleteWords(cmd, "method", methods)
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error { return c.call(ctx, p, args) })
	return cmd
}

// methods lists the HTTP methods that the contract uses.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

func (c calling) call(ctx context.Context, p *session.Program, args []string) error {
	r, where, err := c.request(p, args)
	if err != nil {
		return err
	}
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
	if c.paginate {
		return printPages(ctx, s, r)
	}
	var a session.Answer
	switch r.Method {
	case http.MethodPost:
		a, err = s.Post(ctx, c.Writing, r)
	case http.MethodPut, http.MethodPatch:
		a, err = s.Change(ctx, r, "")
	default:
		a, err = s.Ask(ctx, r)
	}
	if err != nil {
		return err
	}
	if c.include {
		if err := p.Write(head(a)); err != nil {
			return err
		}
	}
	if len(a.Body) == 0 {
		return nil
	}
	return p.Document(a.Body)
}

// request returns the request that the flags and the arguments describe. It returns the path separately.
func (c calling) request(p *session.Program, args []string) (r session.Request, where string, err error) {
	r, where = session.Request{Method: c.method, Match: c.match}, args[len(args)-1]
	fields := len(c.texts)+len(c.values) > 0
	switch {
	case len(args) == 2 && c.method != "":
		return r, where, exit.Usagef("give the method once: %s or --method %s", args[0], c.method)
	case len(args) == 2:
		r.Method = args[0]
	case c.method == "" && (fields || c.input != "") && !c.paginate:
		r.Method = http.MethodPost
	case c.method == "":
		r.Method = http.MethodGet
	}
	r.Method = strings.ToUpper(r.Method)
	switch {
	case !slices.Contains(methods, r.Method):
		return r, where, exit.Usagef("%q is not a method of the API; use one of %s", r.Method, strings.Join(methods, ", "))
	case c.paginate && (r.Method != http.MethodGet || c.include):
		return r, where, exit.Usagef("--paginate prints one list that GET requests read: omit --include, and any other method")
	case r.Method == http.MethodGet && c.input != "":
		return r, where, exit.Usagef("a GET has no body: use --input with POST, PUT or PATCH")
	case fields && c.input != "":
		return r, where, exit.Usagef("use --input or fields for the body, not both")
	case c.input != "":
		r.Body, err = p.File(c.input)
	case r.Method == http.MethodGet || r.Method == http.MethodDelete:
		r.Query, err = queryOf(fieldsOf(p, c.texts, c.values))
	case fields:
		r.Body, err = bodyOf(fieldsOf(p, c.texts, c.values))
	}
	return r, where, err
}

// printPages reads all pages and prints them as one list.
func printPages(ctx context.Context, s *session.Session, r session.Request) error {
	list, err := s.Pages(ctx, session.Paging{}, s.Fetch(r.Path, r.Query))
	if err != nil {
		return err
	}
	return s.DocumentOf(list)
}

// head returns a response's status and headers as text.
func head(a session.Answer) []byte {
	text := fmt.Appendf(nil, "HTTP %d %s\n", a.Status, http.StatusText(a.Status))
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		text = fmt.Appendf(text, "%s: %s\n", name, strings.Join(a.Header[name], ", "))
	}
	return append(text, '\n')
}

// pathOf sets a request's path and query from an argument.
func pathOf(r *session.Request, where string) error {
	path, query, _ := strings.Cut(where, "?")
	path = strings.TrimPrefix(strings.TrimPrefix(path, "/"), "v1/")
	for element := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(element)
		if err != nil || plain == "" || plain == "." || plain == ".." {
			return exit.Usagef("%q is not a path of the API: use a path like projects/shop/pools", where)
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
