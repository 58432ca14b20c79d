package session

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// destination has the server, the project and the credential for a command's requests. It does not change while the command runs. Flags take precedence
// over the environment. The environment takes precedence over the current context.
type destination struct {
	server  *url.URL
	Project string
	Context string // the context's name; "" if there is none
	key     Token
	keyFrom string // the key's source, for messages
	unnamed bool   // no flag, variable or context names a server, so the default is used
	caFile  string
}

// Credential describes the credential and its source.
func (d destination) Credential() string {
	if d.key == "" {
		return d.key.About()
	}
	return d.key.About() + ", from " + d.keyFrom
}

// destination selects the server, the project and the credential for the requests. A context from --context takes precedence over the environment. The
// current context comes after the environment.
//
// ipamctl sends a credential only to the server that belongs to it. A context's credential belongs to the server of the context. If CARVE_SERVER is
// set, CARVE_API_KEY belongs to CARVE_SERVER.
func (p *Program) destination() (destination, error) {
	name, chosen, err := p.chosenContext()
	if err != nil {
		return destination{}, err
	}
	d := destination{Context: name}
	env := Setting{Server: p.Env("CARVE_SERVER"), Project: p.Env("CARVE_PROJECT")}
	from := "CARVE_API_KEY"
	switch text, file := p.Env(from), p.Env("CARVE_API_KEY_FILE"); {
	case text != "" && file != "":
		return d, exit.Usagef("CARVE_API_KEY and CARVE_API_KEY_FILE are both set; set only one of them")
	case text != "":
		if env.APIKey, err = parseToken([]byte(text)); err != nil {
			return d, exit.Usagef("CARVE_API_KEY: %v", err)
		}
	case file != "":
		from = "CARVE_API_KEY_FILE"
		if env.APIKey, err = p.ReadToken(file); err != nil {
			return d, err
		}
	}
	first, second := env, chosen
	if p.Flags.Context != "" {
		first, second = chosen, env
	}
	server := show.FirstOf(p.Flags.Server, first.Server, second.Server)
	d.unnamed = server == ""
	if d.server, err = ParseServer(show.FirstOf(server, DefaultServer)); err != nil {
		return d, err
	}
	d.Project = show.FirstOf(p.Flags.Project, first.Project, second.Project)
	own := chosen.Server != "" && isServer(chosen.Server, d.server)
	d.caFile = p.Flags.CaFile
	if d.caFile == "" && own {
		d.caFile = chosen.CAFile
	}
	if !own && chosen.APIKey != "" {
		p.Remark("%s is not the server of context %s (%s): ipamctl does not send the context's credential there", d.server.Redacted(), name, Redacted(chosen.Server))
		chosen.APIKey = ""
	}
	if env.APIKey != "" && env.Server != "" && !isServer(env.Server, d.server) {
		p.Remark("%s is not CARVE_SERVER (%s): ipamctl does not send %s there", d.server.Redacted(), Redacted(env.Server), from)
		env.APIKey = ""
	}
	if d.key, d.keyFrom = env.APIKey, from; d.key == "" || p.Flags.Context != "" && chosen.APIKey != "" {
		d.key, d.keyFrom = chosen.APIKey, "context "+name
	}
	return d, d.guard(p.Flags.InsecureHTTP)
}

// chosenContext returns the context of --context. Without that flag, it returns the current context.
func (p *Program) chosenContext() (name string, s Setting, err error) {
	all, err := p.ReadContexts()
	if err != nil {
		return "", s, err
	}
	name = show.FirstOf(p.Flags.Context, all.Current)
	if name == "" {
		return "", s, nil
	}
	s, found := all.Contexts[name]
	if !found {
		return "", s, NoContext(name)
	}
	return name, s, nil
}

// NoContext returns the error for an unknown context.
func NoContext(name string) error {
	return exit.Usagef("there is no context %q; 'ipamctl context list' shows all contexts, 'ipamctl context set %s' creates this one", name, name)
}

// guard returns an error if the credential would be sent over a network without encryption.
func (d destination) guard(insecure bool) error {
	if d.server.Scheme == "https" || insecure || loopback(d.server.Hostname()) || d.key == "" && d.server.User == nil {
		return nil
	}
	return exit.Usagef("%s is plain http, so others on the network can read the credential: use https, or --insecure-http "+
		"if you trust the network", d.server.Redacted())
}

// Guard returns an error if another service's credential would be sent over plain http. The rules are the same as for Carve's credential.
func (p *Program) Guard(server *url.URL) error {
	return destination{server: server, key: "of another service"}.guard(p.Flags.InsecureHTTP)
}

// loopback reports whether a host is this machine. It decides by the name alone and makes no DNS lookup.
func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// ParseServer parses a server's base URL.
func ParseServer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" {
		return nil, exit.Usagef("the server must be a URL like %s, not %q", DefaultServer, Redacted(text))
	}
	return u, nil
}

// Redacted returns a URL without its password.
func Redacted(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Redacted()
	}
	if _, after, found := strings.Cut(text, "@"); found {
		return "xxxxx@" + after
	}
	return text
}

// isServer reports whether a URL has the same scheme, host, port and path as a server.
func isServer(text string, u *url.URL) bool {
	other, err := url.Parse(text)
	return err == nil && place(other) == place(u)
}

// SameServer reports whether two URLs refer to the same server.
func SameServer(a, b string) bool {
	u, err := url.Parse(a)
	return err == nil && isServer(b, u)
}

func place(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return fmt.Sprintf("%s://%s:%s%s", u.Scheme, strings.ToLower(u.Hostname()), port, strings.TrimRight(u.EscapedPath(), "/"))
}
