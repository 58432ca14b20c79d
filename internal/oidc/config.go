package oidc

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Config is the content of the file that lists the trusted issuers.
type Config struct {
	Issuers []Issuer `yaml:"issuers"`
}

// Issuer is one OpenID Connect issuer, with the rules for its tokens.
type Issuer struct {
	Name     string `yaml:"name"`     // a DNS label; begins the subjects of this issuer's users
	URL      string `yaml:"url"`      // exactly as in `iss`; the discovery URL begins with it
	Audience string `yaml:"audience"` // must be in the token's `aud`
	// AuthorizedParties are the clients for which the issuer may have issued a token (`azp`). If the list is empty, every client is accepted, as is
	// usual for an API that other services call.
	AuthorizedParties []string      `yaml:"authorizedParties"`
	Algorithms        []string      `yaml:"algorithms"`   // default: RS256, ES256, EdDSA
	SubjectClaim      string        `yaml:"subjectClaim"` // default: sub
	ClockSkew         time.Duration `yaml:"clockSkew"`    // tolerance for `exp` and `nbf`; default: 30s, at most 5m
	CAFile            string        `yaml:"caFile"`       // CA certificates that verify the issuer; default: the system's
	Roles             []Rule        `yaml:"roles"`
	SignIn            Client        `yaml:"signIn"` // the console's client for the sign-in; without it, nobody can sign in at this issuer
}

// Client describes the console as an issuer's client.
type Client struct {
	ClientID         string   `yaml:"clientId"`         // its ID tokens' audience
	ClientSecretFile string   `yaml:"clientSecretFile"` // none: a public client, which only PKCE protects
	Scopes           []string `yaml:"scopes"`           // default: openid, profile, email; every request includes openid
	// RedirectURL is the console's URL that is registered at the issuer. If it is empty, the console uses /console/callback at the host in the
	// browser's request.
	RedirectURL string `yaml:"redirectUrl"`
}

// CallbackPath is the path to which issuers redirect browsers after the sign-in.
const CallbackPath = "/console/callback"

// Rule gives a role to a token if a claim equals Value or matches Pattern. If Pattern has groups named project and role, the matched text gives the
// project and the role. Claim is a claim's name or a JSON pointer (/realm_access/roles). The value must be a string or a list of strings.
type Rule struct {
	Claim   string `yaml:"claim"`
	Value   string `yaml:"value"`
	Pattern string `yaml:"pattern"`
	Project string `yaml:"project"`
	Role    string `yaml:"role"`
}

// asymmetric lists the algorithms that a configuration may allow. Symmetric algorithms are not allowed, because everyone who could verify a token
// could also sign tokens.
var asymmetric = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

const (
	defaultSkew = 30 * time.Second
	largestSkew = 5 * time.Minute
)

// Load reads the configuration and checks the files that it names. A relative path starts at the configuration's folder.
func Load(path string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, err
	}
	defer f.Close()
	c, err := parse(f)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	for i := range c.Issuers {
		for _, file := range []*string{&c.Issuers[i].CAFile, &c.Issuers[i].SignIn.ClientSecretFile} {
			if *file != "" && !filepath.IsAbs(*file) {
				*file = filepath.Join(filepath.Dir(path), *file)
			}
		}
		if _, err := c.Issuers[i].SignIn.secret(); err != nil {
			return Config{}, fmt.Errorf("%s: issuers[%d]: signIn: clientSecretFile: %w", path, i, err)
		}
		if _, err := newTransport(c.Issuers[i].CAFile); err != nil {
			return Config{}, fmt.Errorf("%s: issuers[%d]: caFile: %w", path, i, err)
		}
	}
	return c, nil
}

func parse(r io.Reader) (Config, error) {
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	var c Config
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("holds more than one document; write all issuers in one")
	}
	return c, c.complete()
}

// complete sets the defaults and validates the configuration.
func (c Config) complete() error {
	if len(c.Issuers) == 0 {
		return errors.New("issuers is empty: name at least one")
	}
	names, urls := map[string]bool{}, map[string]bool{}
	for i := range c.Issuers {
		is := &c.Issuers[i]
		if err := is.complete(); err != nil {
			return fmt.Errorf("issuers[%d]: %w", i, err)
		}
		if names[is.Name] || urls[is.URL] {
			return fmt.Errorf("issuers[%d]: another issuer has the same name or url", i)
		}
		names[is.Name], urls[is.URL] = true, true
	}
	return nil
}

func (is *Issuer) complete() error {
	if len(is.Algorithms) == 0 {
		is.Algorithms = []string{"RS256", "ES256", "EdDSA"}
	}
	is.SubjectClaim, is.ClockSkew = cmp.Or(is.SubjectClaim, "sub"), cmp.Or(is.ClockSkew, defaultSkew)
	u, err := url.Parse(is.URL)
	switch {
	case !ipam.ValidName(is.Name):
		return fmt.Errorf("name %q is not a DNS label", is.Name)
	case is.Name == "key" || is.Name == "carve":
		return fmt.Errorf("name %q is reserved for the subjects of API keys and of the service itself; use another one", is.Name)
	case err != nil || !plainURL(u):
		return fmt.Errorf("url %q is not an https URL without a query (http is only for loopback addresses)", is.URL)
	case is.Audience == "":
		return errors.New("audience is missing: without it, this server would accept tokens for other services")
	case is.ClockSkew < 0 || is.ClockSkew > largestSkew:
		return fmt.Errorf("clockSkew %s is not between 0 and %s", is.ClockSkew, largestSkew)
	}
	for _, a := range is.Algorithms {
		if !slices.Contains(asymmetric, a) {
			return fmt.Errorf("algorithms: %q is not one of %s", a, strings.Join(asymmetric, ", "))
		}
	}
	for i, r := range is.Roles {
		if _, err := r.compile(); err != nil {
			return fmt.Errorf("roles[%d]: %w", i, err)
		}
	}
	return is.SignIn.complete()
}

func (c *Client) complete() error {
	if c.ClientID == "" {
		if c.ClientSecretFile != "" || len(c.Scopes) > 0 || c.RedirectURL != "" {
			return errors.New("signIn: clientId is missing")
		}
		return nil
	}
	if len(c.Scopes) == 0 {
		c.Scopes = []string{"profile", "email"}
	}
	c.Scopes = append([]string{"openid"}, slices.DeleteFunc(slices.Clone(c.Scopes), func(s string) bool { return s == "openid" })...)
	u, err := url.Parse(c.RedirectURL)
	if c.RedirectURL != "" && (err != nil || !plainURL(u) || u.Path != CallbackPath) {
		return fmt.Errorf("signIn: redirectUrl %q is not an https URL of %s (http is only for loopback addresses)", c.RedirectURL, CallbackPath)
	}
	return nil
}

// secret reads the client's secret from its file. It returns "" if no file is configured. It reads the file on each call, so that the operator can
// replace the secret.
func (c Client) secret() (string, error) {
	if c.ClientSecretFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(c.ClientSecretFile)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", fmt.Errorf("%s is empty", c.ClientSecretFile)
	}
	return secret, nil
}

// mark returns a hash over the settings that determine a user's subject and roles. If these settings change, sessions from earlier sign-ins end.
func (is Issuer) mark() ipam.ID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", is.URL, is.Name, is.SubjectClaim, is.SignIn.ClientID, is.Roles))
	return ipam.ID(sum[:16])
}

// plainURL reports whether a URL is secure and consists only of scheme, host and path.
func plainURL(u *url.URL) bool {
	return secure(u) && u.RawQuery == "" && u.Fragment == "" && u.User == nil
}

// secure reports whether responses from a URL can be trusted. The URL must use TLS, or its host must be this machine.
func secure(u *url.URL) bool {
	if u.Host == "" {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && a.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && local
}
