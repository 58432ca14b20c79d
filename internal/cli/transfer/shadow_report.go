package transfer

import (
	"bytes"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// differences describes each outcome as a difference between the two sides. "Here" is Carve, and "there" is the other system.
var differences = map[string]string{
	outcomeCreate: "missing here", outcomeCreated: "missing here", outcomeRefused: "missing here", outcomeLeft: "missing here",
	outcomeOnlyThere: "missing here", outcomeEnded: "missing here",
	outcomeRelease: "missing there", outcomeReleased: "missing there", outcomeHeldBack: "missing there", outcomeOnlyHere: "missing there",
	outcomeChange: "different", outcomeChanged: "different", outcomeDiffers: "different",
	outcomeTaken: "taken",
}

// shadowReport has an outcome for every row, and for objects that only Carve has.
type shadowReport struct {
	Shadow   string         `json:"shadow"`
	At       time.Time      `json:"at"`
	Mirrored int            `json:"mirrored"` // objects that the mirror made in pools where the other system leads
	HeldBack string         `json:"heldBack,omitempty"`
	Here     map[string]int `json:"here"` // counts the objects that only Carve has, by outcome
	report
	missed *missingTables
}

func (v *view) account(m *mirror) *shadowReport {
	out := &shadowReport{Shadow: m.name, At: m.Clock().UTC().Truncate(time.Second), HeldBack: v.safety, missed: v.missed, Here: map[string]int{},
		Mirrored: len(v.made) + len(v.keeps), report: report{Source: m.of, DryRun: m.dry, shadow: m.name, after: v.begun, of: v.desired}}
	out.count()
	for _, i := range v.extras {
		if i.outcome != outcomeSame && i.outcome != "" || !v.begun && i.outcome == "" {
			out.here("the mapping", i, first(i.outcome, outcomeCreate))
		}
	}
	for _, e := range v.gone {
		out.here("", e, first(e.outcome, outcomeHeldBack))
	}
	for _, e := range v.releases {
		out.here("", e, outcomeRelease)
	}
	for _, e := range v.keeps {
		if e.why != "" && !slices.ContainsFunc(v.gone, func(g *item) bool { return g.id() == e.id() }) {
			out.here("", e, outcomeHeldBack)
		}
	}
	for _, e := range v.lone {
		out.here("", e, outcomeOnlyHere)
	}
	return out
}

// here adds an object without a row in the source.
func (out *shadowReport) here(row string, i *item, outcome string) {
	line := reportRow{
		Row: first(row, i.annotationMap()["source-row"]), Kind: i.kind, Block: i.where(), Outcome: outcome, Difference: differences[outcome],
		Project: i.project(), Space: i.space(), Target: i.target(), Why: i.why,
	}
	if outcome == outcomeOnlyHere && line.Why == "" {
		line.Why = "the mirror did not create it"
	}
	out.Here[outcome]++
	out.more = append(out.more, line)
}

// open counts the differences that remain.
func (out *shadowReport) open() int {
	left := []string{outcomeRefused, outcomeDiffers, outcomeLeft, outcomeTaken, outcomeHeldBack, outcomeOnlyHere, outcomeOnlyThere, outcomeRelease}
	if out.DryRun {
		left = append(left, outcomeCreate, outcomeChange)
	}
	n := 0
	for _, outcome := range left {
		n += out.Counts[outcome] + out.Here[outcome]
	}
	return n
}

// summary returns the pass's result in one line.
func (out *shadowReport) summary() string {
	text := out.Shadow + ": " + out.report.summary()
	if counts := countsText(out.Here); counts != "" {
		text += "; not in the source: " + counts
	}
	return text
}

// diff prints the report for people. It has all differences with their outcomes.
func (out *shadowReport) diff(p *show.Printer, limit int) error {
	rows, hidden := worst(func(yield func(reportRow) bool) {
		for r := range out.lines {
			if (r.Difference != "" || r.Outcome == outcomeSkipped && out.DryRun) && !yield(r) {
				return
			}
		}
	}, limit, func(r reportRow) int { // releases come first, because they cannot be undone
		if r.Outcome == outcomeRelease || r.Outcome == outcomeReleased {
			return len(order)
		}
		return severity(r)
	})
	var text bytes.Buffer
	if len(rows) > 0 {
		text.Write(show.Table(p, reportColumns(`
			BLOCK: block
			DIFFERENCE: difference
			DONE: done
			SPACE: space
			HERE: target
			THERE: row
			WHY: why`), rows))
	}
	if err := writeEnd(&text, hidden, out.summary()); err != nil {
		return err
	}
	return p.Write(text.Bytes())
}
