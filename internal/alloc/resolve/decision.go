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

// maxSteps bounds the steps that go with a refusal, maxExplained those of an explanation.
const (
	maxSteps     = 20
	MaxExplained = 500
)

// decision collects what was considered on the way to an answer. On the way it costs appending; words are made when somebody asks.
type decision struct {
	viewer storage.ProjectKey // whose claim it is: pools that are none of its business are not named
	exact  bool               // it asks for a very block
	noted  []noted
}

type noted struct {
	kind    ipam.StepKind
	ref     ipam.Ref
	hidden  bool // the name is not for the viewer
	outcome ipam.Outcome
	detail  string
	err     error // says why, instead of detail
}

func (d *decision) Note(kind ipam.StepKind, ref ipam.Ref, outcome ipam.Outcome, detail string) {
	d.noted = append(d.noted, noted{kind: kind, ref: ref, outcome: outcome, detail: detail})
}

func (d *decision) refusedRef(kind ipam.StepKind, ref ipam.Ref, err error) {
	d.noted = append(d.noted, noted{kind: kind, ref: ref, outcome: ipam.OutcomeRefused, err: err})
}

// Steps renders what was noted: of more than n steps the first ones, and the last one, which decided.
func (d *decision) Steps(n int) []ipam.Step {
	list := d.noted
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

// SkippedPool notes why a pool does not serve the claim.
func (r *Resolved) SkippedPool(p ipam.Pool, err error) {
	r.noted = append(r.noted, noted{kind: ipam.StepPool, ref: p.Ref(), hidden: r.Telling().Hides(p), outcome: ipam.OutcomeSkipped, err: err})
}

// Chose notes the pool that serves the claim, or has kept its block. It has its name: the claim names it too.
func (r *Resolved) Chose(c ipam.Claim) {
	why := fmt.Sprintf("It has room: the block is %s.", c.Block)
	if r.Ask.Spec.AllocationRef != "" {
		why = fmt.Sprintf("It has kept %s for the project, as allocation %s.", c.Block, c.AllocationID)
	}
	r.Note(ipam.StepPool, c.Pool, ipam.OutcomeChosen, why)
}

// QuotaRefused notes the quota that stands in the way.
func (r *Resolved) QuotaRefused(err error) {
	if e, ok := errors.AsType[*ipam.Error](err); ok {
		project, name, _ := strings.Cut(e.Figures.Quota, "/")
		r.refusedRef(ipam.StepQuota, ipam.Ref{Project: project, Name: name}, err)
	}
}

// Telling is how refusals of this claim speak of pools.
func (r *Resolved) Telling() refusals.Telling {
	return refusals.Telling{Viewer: r.viewer, Class: r.Ask.Class, First: r.First != nil}
}

// Explained attaches the steps to a refusal, in short. What is answered like something missing has none: they could tell the two apart.
func (r *Resolved) Explained(err error) error {
	e, ok := err.(*ipam.Error) //nolint:errorlint // only the refusal itself has steps
	if !ok || len(r.noted) == 0 || e.Code == ipam.CodeNotFound {
		return err
	}
	with := *e
	with.Figures.Steps = r.Steps(maxSteps)
	return &with
}

// Unnamed is a refusal by a pool, in words that do not name it when it is none of the viewer's business: the class speaks for all pools
// behind it.
func (r *Resolved) Unnamed(err error) error {
	e, ok := errors.AsType[*ipam.Error](err)
	if r.Ask.Class == nil || !ok {
		return err
	}
	class := r.Ask.Class.Ref()
	out := *e
	switch exact := r.Ask.Spec.Exact(); {
	case regions.IsFence(err):
		out.Message = fmt.Sprintf("A pool behind class %s cannot be used in this region at the moment: its rows there are of another time than the record of its loans. Nothing was changed; the operator has to reconcile them.", class)
	case e.Code == ipam.CodePoolDraining:
		out.Message = fmt.Sprintf("A pool behind class %s is being drained, and no other can serve this claim: nothing more is carved from it.", class)
	case e.Code == ipam.CodeNeverSatisfiable && exact.IsValid():
		out.Message = fmt.Sprintf("%s is not inside any pool behind class %s.", exact, class)
		out.Fields = []ipam.Field{{Pointer: ExactPointer(r.Ask.Spec), Detail: "must be inside a pool of the class."}}
	case e.Code == ipam.CodeNeverSatisfiable || e.Code == ipam.CodePrefixLengthRejected:
		out.Message = fmt.Sprintf("No pool behind class %s carves blocks of the length that was asked for.", class)
		if f := e.Figures; f.WantedPrefixLength != nil && f.AllowedMin != nil && f.AllowedMax != nil {
			out.Message = fmt.Sprintf("No pool behind class %s carves a block of length /%d; ask for /%d to /%d.", class, *f.WantedPrefixLength, *f.AllowedMin, *f.AllowedMax)
			out.Fields = []ipam.Field{{Pointer: "/spec/prefixLength", Detail: fmt.Sprintf("must be %d to %d.", *f.AllowedMin, *f.AllowedMax)}}
		}
	}
	out.Figures.Class = class.String()
	return &out
}

// hiddenDetail says what is wrong with a pool to somebody who may not see it.
func hiddenDetail(e *ipam.Error, exact bool) string {
	switch {
	case e.Code == ipam.CodePoolExhausted || e.Code == ipam.CodeExhaustedByCooldown:
		return "It has no free block that is large enough."
	case e.Code == ipam.CodePoolDraining:
		return "It is being drained."
	case e.Code == ipam.CodeNeverSatisfiable && exact:
		return "The block is not inside it."
	case e.Code == ipam.CodeNeverSatisfiable || e.Code == ipam.CodePrefixLengthRejected:
		return "It does not carve blocks of this length."
	case e.Code == ipam.CodeFamilyMismatch:
		return "It is of the other address family."
	case e.Code == ipam.CodeBlockTaken:
		return "All of the block or a part of it is held."
	default:
		return "It cannot serve this claim."
	}
}
