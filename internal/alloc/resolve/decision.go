package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// maxSteps limits the steps in a refusal. MaxExplained limits the steps in an explanation.
const (
	maxSteps     = 20
	MaxExplained = 500
)

// decision collects the steps that lead to a result. A step costs only one append, because its text is built when a caller requests it.
type decision struct {
	viewer storage.ProjectKey // the claim's project; the steps do not name pools that this project may not see
	exact  bool               // the claim requests an exact CIDR
	steps  []noted
}

type noted struct {
	kind    ipam.StepKind
	ref     ipam.Ref
	hidden  bool // the viewer may not see the name
	outcome ipam.Outcome
	detail  string
	err     error // the reason; replaces detail
}

func (d *decision) Note(kind ipam.StepKind, ref ipam.Ref, outcome ipam.Outcome, detail string) {
	d.steps = append(d.steps, noted{kind: kind, ref: ref, outcome: outcome, detail: detail})
}

func (d *decision) refusedRef(kind ipam.StepKind, ref ipam.Ref, err error) {
	d.steps = append(d.steps, noted{kind: kind, ref: ref, outcome: ipam.OutcomeRefused, err: err})
}

// Steps returns the steps with their texts. If there are more than n steps, it returns the first n-1 steps and the last step, which decided.
func (d *decision) Steps(n int) []ipam.Step {
	list := d.steps
	if len(list) > n {
		list = append(slices.Clone(list[:n-1]), list[len(list)-1])
	}
	out := make([]ipam.Step, 0, len(list))
	for _, x := range list {
		step := ipam.Step{Kind: x.kind, Name: x.ref.String(), Outcome: x.outcome, Detail: x.detail}
		if x.hidden {
			step.Name = usecase.HiddenName(x.ref)
		}
		if e, ok := errors.AsType[*ipam.Error](x.err); ok {
			step.Code, step.Detail = e.Code, e.Message
			if x.hidden {
				step.Detail = hiddenDetail(e, d.exact)
			}
		}
		out = append(out, step)
	}
	return out
}

// SkippedPool records the reason why a pool does not serve the claim.
func (r *Resolved) SkippedPool(p ipam.Pool, err error) {
	r.steps = append(r.steps, noted{kind: ipam.StepPool, ref: p.Ref(), hidden: r.Viewer().Hides(p), outcome: ipam.OutcomeSkipped, err: err})
}

// Chose records the pool that serves the claim, or that has retained its block. It names the pool even if the pool is hidden, because the claim names
// it too.
func (r *Resolved) Chose(c ipam.Claim) {
	reason := fmt.Sprintf("It has room: the block is %s.", c.Block)
	if r.Ask.Spec.AllocationRef != "" {
		reason = fmt.Sprintf("It holds %s for the project, as retained allocation %s.", c.Block, c.AllocationID)
	}
	r.Note(ipam.StepPool, c.Pool, ipam.OutcomeChosen, reason)
}

// QuotaRefused records the quota that refuses the claim.
func (r *Resolved) QuotaRefused(err error) {
	if e, ok := errors.AsType[*ipam.Error](err); ok {
		project, name, _ := strings.Cut(e.Figures.Quota, "/")
		r.refusedRef(ipam.StepQuota, ipam.Ref{Project: project, Name: name}, err)
	}
}

// Viewer returns the rules for pool names in this claim's refusals.
func (r *Resolved) Viewer() refusals.Viewer {
	return refusals.Viewer{Project: r.viewer, Class: r.Ask.Class, First: r.First != nil}
}

// Explained adds steps to a refusal. A not_found error gets no steps, because steps could reveal that the object exists.
func (r *Resolved) Explained(err error) error {
	e, ok := err.(*ipam.Error) //nolint:errorlint // only the refusal itself has steps
	if !ok || len(r.steps) == 0 || e.Code == ipam.CodeNotFound {
		return err
	}
	with := *e
	with.Figures.Steps = r.Steps(maxSteps)
	return &with
}

// Unnamed replaces the texts in a pool's refusal. The new texts name only the class. So the viewer learns nothing about a pool that it may not see.
func (r *Resolved) Unnamed(err error) error {
	e, ok := errors.AsType[*ipam.Error](err)
	if r.Ask.Class == nil || !ok {
		return err
	}
	class := r.Ask.Class.Ref()
	out := *e
	switch exact := r.Ask.Spec.Exact(); {
	case regions.IsFence(err):
		out.Message = fmt.Sprintf("A pool behind class %s cannot be used in this region: its data here and its loan records come from different backups. Nothing was changed. Ask the operator to reconcile them.", class)
	case e.Code == ipam.CodePoolDraining:
		out.Message = fmt.Sprintf("A pool behind class %s is draining and gives out no more blocks, and no other pool can serve this claim.", class)
	case e.Code == ipam.CodeNeverSatisfiable && exact.IsValid():
		out.Message = fmt.Sprintf("%s is not inside any pool behind class %s.", exact, class)
		out.Fields = []ipam.Field{{Pointer: ExactPointer(r.Ask.Spec), Detail: "must be inside a pool of the class."}}
	case e.Code == ipam.CodeNeverSatisfiable || e.Code == ipam.CodePrefixLengthRejected:
		out.Message = fmt.Sprintf("No pool behind class %s gives out blocks of the requested length.", class)
		if f := e.Figures; f.WantedPrefixLength != nil && f.AllowedMin != nil && f.AllowedMax != nil {
			out.Message = fmt.Sprintf("No pool behind class %s gives out a /%d. Ask for /%d to /%d.", class, *f.WantedPrefixLength, *f.AllowedMin, *f.AllowedMax)
			out.Fields = []ipam.Field{{Pointer: "/spec/prefixLength", Detail: fmt.Sprintf("must be %d to %d.", *f.AllowedMin, *f.AllowedMax)}}
		}
	}
	out.Figures.Class = class.String()
	return &out
}

// hiddenDetail returns the reason for a pool's refusal to a viewer that may not see the pool.
func hiddenDetail(e *ipam.Error, exact bool) string {
	switch {
	case e.Code == ipam.CodePoolExhausted || e.Code == ipam.CodeExhaustedByCooldown:
		return "It has no free block that is large enough."
	case e.Code == ipam.CodePoolDraining:
		return "It is draining."
	case e.Code == ipam.CodeNeverSatisfiable && exact:
		return "The block is not inside it."
	case e.Code == ipam.CodeNeverSatisfiable || e.Code == ipam.CodePrefixLengthRejected:
		return "It gives out no blocks of this length."
	case e.Code == ipam.CodeFamilyMismatch:
		return "It has the other address family."
	case e.Code == ipam.CodeBlockTaken:
		return "The block is allocated, at least in part."
	default:
		return "It cannot serve this claim."
	}
}
