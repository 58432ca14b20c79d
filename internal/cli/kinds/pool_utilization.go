package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// fullBar is the bar's width for a full pool.
const fullBar = 40

func poolUtilization(p *session.Program, complete verbs.Completion) *cobra.Command {
	at := verbs.Moment(p.Clock)
	since, until := at("", false), at("", false)
	points := 25
	cmd := &cobra.Command{
		Use:   "utilization NAME",
		Short: "Show the usage of a pool over time, and when it will be full",
		Long: `Shows the usage of a pool over time, by default for the last 30 days. A bar shows the usage ('#'), and the highest usage since the
previous line ('-'). If the pool fills steadily, the last line predicts when it will be full.

Servers record the usage once an hour. They keep hourly values for 14 days, and the last and highest value of each day for 400 days.`,
		Example: `  ipamctl pool utilization prod-eu
  ipamctl pool utilization prod-eu --since 1d --points 24
  ipamctl pool utilization team-b/prod -o json`,
		Args:              verbs.Refs("pool", 1, 1),
		ValidArgsFunction: complete,
		RunE: verbs.OnOne(p, func(ctx context.Context, r verbs.Resource) error {
			a, err := r.Ask(ctx, session.Request{
				Path:  r.In("pools", r.Name, "utilization"),
				Query: session.Query{}.With("since", since.String()).With("until", until.String()).With("points", strconv.Itoa(points)),
			})
			if err != nil {
				return err
			}
			return showUtilization(p, a.Body)
		}),
	}
	cmd.Flags().Var(since, "since", "start time: 2026-03-03T12:00:00Z, or an age like 90m or 3d")
	cmd.Flags().Var(until, "until", "end time, or an age (default: now)")
	cmd.Flags().IntVar(&points, "points", points, "maximum number of lines, 2 to 1000")
	return cmd
}

func showUtilization(p *session.Program, doc json.RawMessage) error {
	u, err := show.Read[client.PoolUtilization](doc)
	if err != nil {
		return err
	}
	type T = client.UtilizationPoint
	columns := show.Columns(`
		TIME: at
		ADDRESSES: used
		USED: usedPercent
		HIGHEST: highestPercent, wide
		FILLED: bar`, show.Cells[T]{"bar": func(t T) string { return usedBar(t.UsedPercent, t.HighestPercent) }})
	return p.Report(doc, func() []string { return show.WordsOf(u.Points, show.Field[T]("usedPercent")) }, func() error {
		if err := p.Write(show.Table(p.Printer, columns, u.Points)); err != nil {
			return err
		}
		if r := u.Runway; r != nil {
			over := "14 days"
			if r.Over == client.UtilizationRunwayOverP1D {
				over = "day"
			}
			p.Remark("full in %s, at %s, if it grows as in the last %s: %s a day",
				daysText(r.RunsOutAt.Sub(p.Clock())), show.TimeText(&r.RunsOutAt), over, show.Percent(r.PercentPerDay))
		}
		return nil
	})
}

// usedBar draws a pool's used share and the highest share since the previous point.
func usedBar(used, highest float64) string {
	part := func(percent float64) int { return int(math.Ceil(percent * fullBar / 100)) }
	return "|" + strings.Repeat("#", part(used)) + strings.Repeat("-", max(0, part(highest)-part(used))) + strings.Repeat(" ", fullBar-max(part(used), part(highest))) + "|"
}

// daysText formats a duration in days, or in hours if it is less than two days.
func daysText(d time.Duration) string {
	if days := int(d.Hours() / 24); days >= 2 {
		return fmt.Sprintf("%d days", days)
	}
	return fmt.Sprintf("%d hours", int(math.Round(max(0, d.Hours()))))
}
