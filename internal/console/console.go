package console

import (
	"embed"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/api/static"
	"github.com/carve-ipam/carve/internal/oidc"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Config configures the console. Sessions and Log must be set.
type Config struct {
	Sessions *tenancy.Sessions
	Keys     bool                    // users can sign in with API keys
	Issuers  map[string]*oidc.SignIn // issuers at which users can sign in, by name
	Dev      auth.Authenticator      // authenticates requests without a session; nil: these requests are refused
	Limits   limits.Limits           // the API's limits
	Log      *slog.Logger

	files fs.FS // nil: the files in the binary
}

//go:embed all:dist
var built embed.FS

// Console is the web console.
type Console struct {
	cfg   Config
	files map[string]*static.File // empty: the build has no console
}

// New returns the console. It panics only if the build is broken.
func New(cfg Config) *Console {
	if cfg.files == nil {
		safeReturn, err := fs.Sub(built, "dist")
		if err != nil {
			panic("console: embedded files: " + err.Error())
		}
		cfg.files = safeReturn
	}
	return &Console{cfg: cfg, files: load(cfg.files)}
}

// Included reports whether the build contains the console.
func (c *Console) Included() bool { return c.files[index] != nil }

// Register implements api.Console.
func (c *Console) Register(e *echo.Echo) {
	with := func(policy string, next echo.HandlerFunc) echo.HandlerFunc {
		return func(ec echo.Context) error {
			h := ec.Response().Header()
			h.Set("Content-Security-Policy", policy)
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
			h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
			return next(ec)
		}
	}
	e.GET("/console", func(ec echo.Context) error { return ec.Redirect(http.StatusMovedPermanently, Path) })
	e.GET(Path+"*", with(policy, c.serve))
	e.GET("/console/session", with(bare, c.look))
	e.POST("/console/session", with(bare, c.signIn))
	e.DELETE("/console/session", with(bare, c.signOut))
	e.GET("/console/login", with(bare, pageOfFailure(c.cfg.Log, c.login)))
	e.GET(oidc.CallbackPath, with(bare, pageOfFailure(c.cfg.Log, c.callback)))
}

// status is the response about the browser's session, for the console's page.
type status struct {
	SignedIn  bool       `json:"signedIn"`
	Subject   string     `json:"subject,omitempty"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	Methods   []string   `json:"methods"` // ways to sign in; with dev, no sign-in is needed
	Issuers   []issuer   `json:"issuers"`
}

type issuer struct {
	Name string `json:"name"`
}

// signedOut returns the status for a browser without a session, with the ways to sign in.
func (c *Console) signedOut() status {
	s := status{Methods: []string{}, Issuers: []issuer{}}
	if c.cfg.Keys {
		s.Methods = append(s.Methods, "key")
	}
	if len(c.cfg.Issuers) > 0 {
		s.Methods = append(s.Methods, "oidc")
	}
	if c.cfg.Dev != nil {
		s.Methods = append(s.Methods, auth.MethodDev)
	}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Issuers)) {
		s.Issuers = append(s.Issuers, issuer{name})
	}
	return s
}
