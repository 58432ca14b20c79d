package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
)

// passNote is the result of a pass as it is stored on the server.
type passNote struct {
	Source   string         `json:"source"`
	At       time.Time      `json:"at"`
	Rows     int            `json:"rows"`
	Left     int            `json:"differencesLeft"`
	HeldBack string         `json:"heldBack,omitempty"`
	Missed   *missingTables `json:"missed,omitempty"` // the tables that no longer have some objects, which are not released yet
}

// note stores the time and the remaining differences of a pass in the space default of the project.
func (m *mirror) note(ctx context.Context, out *shadowReport) error {
	text, err := show.Marshal(passNote{out.Source, out.At, out.Rows, out.open(), out.HeldBack, out.missed})
	if err != nil {
		return err
	}
	body, err := show.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{shadowNote + m.name: string(text)}}})
	if err != nil {
		return err
	}
	// If two mirrors write at the same time, the later note replaces the other one.
	_, err = m.Ask(ctx, session.Request{Method: http.MethodPatch, Path: m.In("spaces", "default"), Body: body, Match: "*"})
	if err != nil {
		return exit.About("cannot store the result of the mirror in the space default", err)
	}
	return nil
}

// shadowPool is the outermost pool that a mirror made, or a pool in which Carve leads. If Carve leads, it decides about the pool, and the mirror only
// compares.
type shadowPool struct {
	Pool     string `json:"pool"`
	Block    string `json:"block"`
	Space    string `json:"space"`
	Shadow   string `json:"shadow"`
	Leads    string `json:"leads"` // the name of the mirror, or carve
	Since    string `json:"since,omitempty"`
	Mirrored int    `json:"mirroredClaims"`
	Own      int    `json:"otherClaims"`
}

// shadowStatus is the state of all mirrors in a project.
type shadowStatus struct {
	Mirrors map[string]passNote `json:"mirrors"`
	Pools   []*shadowPool       `json:"pools"`
}

func shadowStatusCommand(p *session.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the leading system of each pool, and the last pass of each mirror",
		Long: `Shows the outermost pools of each mirror and the switched pools, with the leading system and the number of claims that the mirror and
others created. Below, it shows the result of the last pass of each mirror.`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = p.Verb(func(ctx context.Context, _ []string) error {
		s, err := p.InProject()
		if err != nil {
			return err
		}
		has, err := snapshot.Read(ctx, s)
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
	})
	return cmd
}

// statusOf returns the status. It counts the claims of each pool in it.
func statusOf(project string, has *snapshot.Snapshot) (*shadowStatus, error) {
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
	parent := func(p client.IPPool) string {
		if p.Status.ParentRef == nil || p.Status.ParentRef.Project != p.Metadata.Project {
			return ""
		}
		return p.Status.ParentRef.Name
	}
	units := map[string]*shadowPool{}
	for name, p := range has.Pools {
		shadow, since := p.Metadata.Labels[shadowLabel], p.Metadata.Annotations[shadowSwitched]
		if shadow == "" && since == "" || since == "" && has.Pools[parent(p)].Metadata.Labels[shadowLabel] == shadow {
			continue
		}
		u := &shadowPool{Pool: name, Block: p.Status.AllocatedCIDR, Space: snapshot.SpaceOf(p), Shadow: shadow, Leads: shadow, Since: since}
		units[name] = u
		out.Pools = append(out.Pools, u)
	}
	switched := switchedPools(has)
	for name, u := range units {
		if switched[name] != "" {
			u.Leads = "carve"
		}
	}
	for c := range has.Claims.All() {
		if c.Pool.Project != project {
			continue
		}
		at := c.Pool.Name
		for at != "" && units[at] == nil {
			at = parent(has.Pools[at])
		}
		switch u := units[at]; {
		case u == nil:
		case c.Labels[shadowLabel] == u.Shadow:
			u.Mirrored++
		default:
			u.Own++
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
	text := show.Table(p, []show.Column[*shadowPool]{
		{Title: "POOL", Cell: func(u *shadowPool) string { return u.Pool }},
		{Title: "BLOCK", Cell: func(u *shadowPool) string { return u.Block }},
		{Title: "SPACE", Cell: func(u *shadowPool) string { return u.Space }},
		{Title: "SHADOW", Cell: func(u *shadowPool) string { return u.Shadow }},
		{Title: "LEADS", Cell: func(u *shadowPool) string { return u.Leads }},
		{Title: "SINCE", Cell: func(u *shadowPool) string { return u.Since }},
		{Title: "MIRRORED", Cell: func(u *shadowPool) string { return strconv.Itoa(u.Mirrored) }},
		{Title: "OTHERS", Cell: func(u *shadowPool) string { return strconv.Itoa(u.Own) }},
	}, st.Pools)
	for _, name := range slices.Sorted(maps.Keys(st.Mirrors)) {
		n := st.Mirrors[name]
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
