package transfer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// shortest is the minimum for --every, because the source must also serve its other clients.
const shortest = 10 * time.Second

// longestMirror limits a mirror's name. The name becomes a part of an annotation's key, which has a maximum length.
const longestMirror = 50

// mirrored returns the sources that can be mirrored.
func mirrored() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(about)), func(of string) bool { return of == "plan" })
}

// ShadowCommand returns the command `shadow`.
func ShadowCommand(p *session.Program) *cobra.Command {
	return verbs.Group("shadow", "Run Carve beside another address manager, and take over pool by pool", nil,
		mirrorCommand(p), switchCommand(p), shadowStatusCommand(p))
}

func mirrorCommand(p *session.Program) *cobra.Command {
	m := &mirror{input: input{p: p}}
	cmd := &cobra.Command{
		Use:   "mirror " + strings.Join(mirrored(), "|") + " [FILE...]",
		Short: "Follow another address manager: create its new objects, and release the objects that it removed",
		Long: `Reads the source as 'ipamctl import' does, compares it with Carve, and makes Carve follow: it creates new objects of the source, applies
changes, and releases objects that the source no longer has, if this mirror created them. It touches no other objects. It shows all
differences that it cannot resolve: blocks of other holders, refused rows, and objects in mirrored pools that are not in the source. In
switched pools ('ipamctl shadow switch') Carve leads, and the mirror only shows how the source differs.

If many rows are missing at once, the mirror releases nothing: see --max-removals. It refuses damaged files and incomplete responses. If
rows of a table (CSV) are missing, it releases their objects when the same table was written a second time. The mirror stores its state on
its objects (label ` + shadowLabel + `), so it can run on any machine, and you can repeat a killed run.
Exit code 0: both sides are the same now; 4: differences remain; 5: the source or Carve did not respond: run it again.`,
		Example: "  NETBOX_TOKEN=... ipamctl shadow mirror netbox --url https://netbox.example.com --dry-run\n" +
			"  NETBOX_TOKEN=... ipamctl shadow mirror netbox --url https://netbox.example.com --every 5m\n" +
			"  ipamctl shadow mirror aws pools.json ipam-pool-*.json",
		Args: cobra.MinimumNArgs(1), ValidArgs: mirrored(),
	}
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error {
		switch err := m.begin(args); {
		case err != nil:
			return err
		case m.every == 0:
			return m.once(ctx)
		default:
			return m.loop(ctx)
		}
	})
	f := cmd.Flags()
	m.common(cmd)
	f.DurationVar(&m.every, "every", 0, "mirror repeatedly at this interval, until interrupted (at least "+shortest.String()+")")
	f.BoolVar(&m.dry, "dry-run", false, "show how the two sides differ, and change nothing")
	f.BoolVar(&m.adopt, "adopt", false, "take over objects that are the same in the source and that others created, such as an earlier import")
	return cmd
}

func (m *mirror) common(cmd *cobra.Command) {
	f := cmd.Flags()
	m.flags(f, true)
	f.StringVar(&m.name, "name", "", "`NAME` of the mirror, to distinguish several of one kind (default: the kind of the source)")
	f.StringVar(&m.maxRemovals, "max-removals", "10%", "maximum of releases in one pass, a `SHARE` of the mirrored objects such as 10%, or a number; a pass that needs more releases nothing")
	f.BoolVar(&m.limit.any, "allow-removals", false, "release all objects that the source no longer has, without a maximum")
}

// begin checks the flags and the arguments, and opens the session.
func (m *mirror) begin(args []string) (err error) {
	m.of, m.paths = args[0], args[1:]
	switch {
	case !slices.Contains(mirrored(), m.of):
		return exit.Usagef("%s is not a source for a mirror: use one of %s", m.of, strings.Join(mirrored(), ", "))
	case m.url != "" && m.of != "netbox":
		return exit.Usagef("--url is for netbox only: give the files of %s", m.of)
	case m.every != 0 && m.every < shortest:
		return exit.Usagef("--every must be at least %s", shortest)
	case m.every != 0 && (m.mappingFile == "-" || slices.Contains(m.paths, "-")):
		return exit.Usagef("--every reads repeatedly, but standard input can be read only once: give files")
	}
	m.name = first(m.name, m.of)
	if err := session.CheckName("mirror", m.name); err != nil {
		return err
	}
	if len(m.name) > longestMirror {
		return exit.Usagef("--name %s: it must have at most %d characters", m.name, longestMirror)
	}
	if err := m.limit.parse(m.maxRemovals); err != nil {
		return err
	}
	if m.mapping, err = m.readMapping(); err != nil {
		return err
	}
	m.p.Hushed = true
	m.Session, err = m.p.InProject()
	return err
}

func (r *removals) parse(text string) error {
	share, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(share, 64)
	switch {
	case err != nil || n < 0 || percent && n > 100 || !percent && n != float64(int(n)):
		return exit.Usagef("--max-removals %s: it must be a share, such as 10%%, or a number", text)
	case percent:
		r.percent = n
	default:
		r.number = int(n)
	}
	return nil
}

// once runs one pass and prints the report.
func (m *mirror) once(ctx context.Context) error {
	defer frugal()()
	v, failed := m.pass(ctx)
	if v == nil {
		return failed
	}
	out := v.account(m)
	if failed == nil && !m.dry {
		failed = m.note(ctx, out)
	}
	if err := m.printReport(out); err != nil {
		return err
	}
	switch {
	case failed != nil:
		m.p.Note("run it again to continue: finished changes stay as they are")
		return failed
	case out.open() > 0:
		return exit.Verdict(exit.Conflict)
	default:
		return nil
	}
}

func (m *mirror) printReport(out *shadowReport) error {
	err := m.print(out, &out.report, out.diff)
	if out.HeldBack != "" {
		m.p.Note("nothing is released: %s. If that is right, run it once with --allow-removals", out.HeldBack)
	}
	return err
}

// loop repeats passes until the user stops it. If a pass fails, it prints the error and continues with the next pass.
func (m *mirror) loop(ctx context.Context) error {
	for {
		begun := m.p.Clock()
		if m.p.Tabular() && !m.p.Quiet {
			if err := m.p.Write([]byte(begun.UTC().Format(time.RFC3339) + "\n")); err != nil {
				return err
			}
		}
		err := m.once(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was stopped, which is how it ends
		}
		if _, isVerdict := errors.AsType[exit.Verdict](err); err != nil && !isVerdict {
			m.p.Note("error: %s", err)
			if code := exit.CodeOf(err); code == exit.Usage && len(m.paths) == 0 {
				return err
			}
		}
		if m.p.Pause(ctx, max(0, m.every-m.p.Clock().Sub(begun))) != nil {
			return nil //nolint:nilerr // it was stopped
		}
	}
}
