package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// passNote is a pass's result as Carve stores it.
type passNote struct {
	Source   string         `json:"source"`
	At       time.Time      `json:"at"`
	Rows     int            `json:"rows"`
	Left     int            `json:"differencesLeft"`
	HeldBack string         `json:"heldBack,omitempty"`
	Lists    []string       `json:"lists,omitempty"`  // the kinds of rows for which this pass or an earlier pass had a file
	Missed   *missingTables `json:"missed,omitempty"` // the tables that no longer have some objects, which are not released yet
}

// note stores a pass's result in the project's space default.
func (m *mirror) note(ctx context.Context, out *shadowReport) error {
	text, err := show.Marshal(passNote{out.Source, out.At, out.Rows, out.open(), out.HeldBack, m.lists, out.missed})
	if err != nil {
		return err
	}
	// If two mirrors write at the same time, the later note replaces the other one.
	if _, err := m.annotate(ctx, m.In("spaces", "default"), nil, "*", shadowNote+m.name, string(text)); err != nil {
		return exit.About("cannot store the result of the mirror in the space default", err)
	}
	return nil
}

// annotate sets an annotation on an object. The value nil removes the annotation. match is the If-Match header.
func (m *mirror) annotate(ctx context.Context, path []string, query session.Query, match, key string, value any) (session.Answer, error) {
	return m.Ask(ctx, session.Request{
		Method: http.MethodPatch, Path: path, Query: query, Match: match,
		Body: map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}},
	})
}

// shadowPool is the outermost pool that a mirror made, or a pool in which Carve leads. If Carve leads, it decides about the pool, and the mirror only
// compares.
type shadowPool struct {
	Pool   string `json:"pool"`
	Block  string `json:"block"`
	Space  string `json:"space"`
	Shadow string `json:"shadow"`
	Leads  string `json:"leads"` // the name of the mirror, or carve
	Since  string `json:"since,omitempty"`

	MirroredClaims int `json:"mirroredClaims"`
	OtherClaims    int `json:"otherClaims"`
}

// shadowStatus has all mirrors in a project.
type shadowStatus struct {
	Mirrors map[string]passNote `json:"mirrors"`
	Pools   []*shadowPool       `json:"pools"`
}

func shadowStatusCommand(p *session.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the leading system of each pool, and the last pass of each mirror",
		Long: `Shows the outermost pools of each mirror and the switched pools, with the leading system and the number of claims that the mirror and
others created. Below, it shows the result of the last pass of each mirror.`,
		Args: cobra.NoArgs,
		RunE: p.VerbIn(func(ctx context.Context, s *session.Session, _ []string) error {
			has, err := converge.Read(ctx, s)
			if err != nil {
				return err
			}
			st, err := statusOf(s.Project, has)
			switch {
			case err != nil:
				return err
			case p.Structured():
				return p.DocumentOf(st)
			}
			return st.show(p.Printer, p.Clock())
		}),
	}
}

// statusOf returns the status, and counts the claims in each pool.
func statusOf(project string, has *converge.Snapshot) (*shadowStatus, error) {
	out := &shadowStatus{Mirrors: map[string]passNote{}, Pools: []*shadowPool{}}
	for key, text := range has.Spaces["default"].Metadata.Annotations {
		if name, is := strings.CutPrefix(key, shadowNote); is {
			var n passNote
			if err := json.Unmarshal([]byte(text), &n); err != nil {
				return nil, fmt.Errorf("cannot read the note of the mirror %s in the space default: %w", name, err)
			}
			out.Mirrors[name] = n
		}
	}
	units, switched := map[string]*shadowPool{}, switchedPools(has)
	for name, p := range has.Pools {
		shadow, since := p.Metadata.Labels[shadowLabel], p.Metadata.Annotations[shadowSwitched]
		if shadow == "" && since == "" || since == "" && has.Pools[converge.ParentOf(p)].Metadata.Labels[shadowLabel] == shadow {
			continue
		}
		u := &shadowPool{Pool: name, Block: p.Status.AllocatedCIDR, Space: converge.SpaceOf(p), Shadow: shadow, Leads: shadow, Since: since}
		if switched[name] != "" {
			u.Leads = "carve"
		}
		units[name] = u
		out.Pools = append(out.Pools, u)
	}
	for c := range has.Claims.All() {
		if c.Pool.Project != project {
			continue
		}
		at := c.Pool.Name
		for at != "" && units[at] == nil {
			at = converge.ParentOf(has.Pools[at])
		}
		switch u := units[at]; {
		case u == nil:
		case c.Labels[shadowLabel] == u.Shadow:
			u.MirroredClaims++
		default:
			u.OtherClaims++
		}
	}
	slices.SortFunc(out.Pools, func(a, b *shadowPool) int {
		return cmp.Or(cmp.Compare(a.Shadow, b.Shadow), cmp.Compare(a.Space, b.Space), cmp.Compare(a.Pool, b.Pool))
	})
	return out, nil
}

// show prints the status as tables.
func (st *shadowStatus) show(p *show.Printer, now time.Time) error {
	if len(st.Pools) == 0 && len(st.Mirrors) == 0 {
		p.Remark("nothing is mirrored in this project: see 'ipamctl shadow mirror --help'")
		return nil
	}
	columns := show.Columns[shadowPool](`
		POOL: pool
		BLOCK: block
		SPACE: space
		SHADOW: shadow
		LEADS: leads
		SINCE: since
		MIRRORED: mirroredClaims
		OTHERS: otherClaims`, nil)
	text := show.Table(p, show.Mapped(columns, func(u *shadowPool) any { return *u }), st.Pools)
	for name, n := range show.Sorted(st.Mirrors) {
		found := "no differences are left"
		if n.Left > 0 {
			found = show.CountOf(n.Left, "difference") + " left"
		}
		if n.HeldBack != "" {
			found += "; nothing is released: " + n.HeldBack
		}
		text = fmt.Appendf(text, "%s: mirrored %s ago (%s), %s, %s\n", name, now.Sub(n.At).Round(time.Second), n.At.Format(time.RFC3339), show.CountOf(n.Rows, "row"), found)
	}
	return p.Write(text)
}
