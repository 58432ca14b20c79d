package transfer

import (
	"cmp"
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
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// shadowing has the flags of a `shadow` command.
type shadowing struct {
	input
	name       string
	every      time.Duration
	most       string
	allow      bool
	adopt      bool
	dry        bool
	reportFile string
	parallel   int
	pools      []string
	back       bool
}

// shortest is the minimum interval between two reads of a source. The source must also serve its other clients.
const shortest = 10 * time.Second

// longestMirror is the maximum length of a mirror's name. The name is a part of an annotation's key, which has a maximum length.
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
	m := &shadowing{input: input{p: p}}
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
		mirror, err := m.mirror(args)
		if err != nil {
			return err
		}
		if m.every == 0 {
			return m.once(ctx, mirror)
		}
		return m.loop(ctx, mirror)
	})
	f := cmd.Flags()
	m.common(cmd)
	f.DurationVar(&m.every, "every", 0, "mirror repeatedly at this interval, until interrupted (at least "+shortest.String()+")")
	f.BoolVar(&m.dry, "dry-run", false, "show how the two sides differ, and change nothing")
	f.BoolVar(&m.adopt, "adopt", false, "take over objects that are the same in the source and that others created, such as an earlier import")
	return cmd
}

// common adds the flags of the commands that read a source.
func (m *shadowing) common(cmd *cobra.Command) {
	f := cmd.Flags()
	m.flags(f)
	m.urlFlag(f)
	f.StringVar(&m.name, "name", "", "`NAME` of the mirror, to distinguish several of one kind (default: the kind of the source)")
	f.StringVar(&m.most, "max-removals", "10%", "maximum of releases in one pass, a `SHARE` of the mirrored objects such as 10%, or a number; a pass that needs more releases nothing")
	f.BoolVar(&m.allow, "allow-removals", false, "release all objects that the source no longer has, without a maximum")
	f.StringVar(&m.reportFile, "report", "", "write the outcome of every row to this `FILE`, .csv or .json")
	f.IntVar(&m.parallel, "parallel", 4, "maximum number of concurrent `REQUESTS`")
}

// mirror returns the mirror that the flags and the arguments describe.
func (m *shadowing) mirror(args []string) (*mirror, error) {
	m.of = args[0]
	switch {
	case !slices.Contains(mirrored(), m.of):
		return nil, exit.Usagef("%s is not a source for a mirror: use one of %s", m.of, strings.Join(mirrored(), ", "))
	case m.url != "" && m.of != "netbox":
		return nil, exit.Usagef("--url is for netbox only: give the files of %s", m.of)
	case m.parallel < 1 || m.parallel > 64:
		return nil, exit.Usagef("--parallel must be between 1 and 64")
	case m.every != 0 && m.every < shortest:
		return nil, exit.Usagef("--every must be at least %s", shortest)
	case m.every != 0 && (m.mappingFile == "-" || slices.Contains(args, "-")):
		return nil, exit.Usagef("--every reads repeatedly, but standard input can be read only once: give files")
	}
	name := first(m.name, m.of)
	if err := session.CheckName("mirror", name); err != nil || len(name) > longestMirror {
		return nil, cmp.Or(err, exit.Usagef("--name %s: it must have at most %d characters", name, longestMirror))
	}
	limit, err := removalsOf(m.most)
	if err != nil {
		return nil, err
	}
	limit.any = m.allow
	mapping, err := m.mapping()
	if err != nil {
		return nil, err
	}
	m.p.Hushed = true
	if _, is := m.p.Aside.(*locked); !is {
		m.p.Aside = &locked{to: m.p.Aside}
	}
	s, err := m.p.InProject()
	if err != nil {
		return nil, err
	}
	return &mirror{Session: s, input: &m.input, name: name, mapping: mapping, paths: args[1:], limit: limit, adopt: m.adopt, dry: m.dry,
		parallel: m.parallel}, nil
}

// removalsOf parses --max-removals.
func removalsOf(text string) (out removals, err error) {
	share, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(share, 64)
	switch {
	case err != nil || n < 0 || percent && n > 100 || !percent && n != float64(int(n)):
		return out, exit.Usagef("--max-removals %s: it must be a share, such as 10%%, or a number", text)
	case percent:
		out.percent = n
	default:
		out.number = int(n)
	}
	return out, nil
}

// once runs one pass of the mirror and prints the report.
func (m *shadowing) once(ctx context.Context, mirror *mirror) error {
	defer frugal()()
	v, failed := mirror.pass(ctx)
	if v == nil {
		return failed
	}
	out := v.account(mirror)
	if failed == nil && !m.dry {
		failed = mirror.note(ctx, out)
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

func (m *shadowing) printReport(out *shadowReport) error {
	if m.reportFile != "" {
		if err := out.write(m.reportFile, out); err != nil {
			return err
		}
	}
	var err error
	switch {
	case m.p.Structured():
		err = show.DocumentOfList(m.p.Printer, out, "items", out.lines)
	case !m.p.Quiet:
		const most = 50
		err = out.diff(m.p.Printer, most)
	}
	if out.HeldBack != "" {
		m.p.Note("nothing is released: %s. If that is right, run it once with --allow-removals", out.HeldBack)
	}
	return err
}

// loop repeats passes until the user stops it. If a pass fails, it prints the error and continues with the next pass.
func (m *shadowing) loop(ctx context.Context, mirror *mirror) error {
	for {
		begun := m.p.Clock()
		if m.p.Tabular() && !m.p.Quiet {
			if err := m.p.Write([]byte(begun.UTC().Format(time.RFC3339) + "\n")); err != nil {
				return err
			}
		}
		err := m.once(ctx, mirror)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was stopped, which is how it ends
		}
		if _, said := errors.AsType[exit.Verdict](err); err != nil && !said {
			m.p.Note("error: %s", err)
			if code := exit.CodeOf(err); code == exit.Usage && len(mirror.paths) == 0 {
				return err
			}
		}
		if m.p.Pause(ctx, max(0, m.every-m.p.Clock().Sub(begun))) != nil {
			return nil //nolint:nilerr // it was stopped
		}
	}
}
