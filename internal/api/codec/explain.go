package codec

import (
	"fmt"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ExplanationOf converts an explanation into its wire form. spec is the spec of the claim.
func ExplanationOf(spec ipam.ClaimSpec, x claims.Explanation) gen.ClaimExplanation {
	out := gen.ClaimExplanation{Steps: Each(x.Steps, StepOf), Remedies: Each(x.Remedies, func(r claims.Remedy) gen.Remedy { return gen.Remedy(r) })}
	if c := x.Claim; c != nil {
		pool := resolvedRefOf(c.Pool)
		out.Outcome, out.Detail = gen.ClaimOutcomeBound, fmt.Sprintf("%s would be carved from pool %s", c.Block, c.Pool)
		if spec.AllocationRef != "" {
			out.Detail = fmt.Sprintf("%s would be bound again in pool %s", c.Block, c.Pool)
		}
		if !c.Class.IsZero() {
			out.Detail += " by class " + c.Class.Ref.String()
		}
		out.Detail += "."
		out.ClassProject, out.ClassName = c.Class.Ref.Project, c.Class.Ref.Name
		out.PoolRef, out.AllocatedCIDR, out.PrefixLength = &pool, c.Block.String(), new(c.Block.Bits())
		out.ReclaimPolicy = gen.ReclaimPolicy(c.ReclaimPolicy)
		return out
	}
	out.Outcome = gen.ClaimOutcomeRefused
	out.Code, out.Detail = gen.ProblemCode(x.Refusal.Code), x.Refusal.Message
	out.ClassProject, out.ClassName = decidingClass(x)
	switch exact := spec.Exact(); {
	case x.Refusal.Figures.WantedPrefixLength != nil:
		out.PrefixLength = x.Refusal.Figures.WantedPrefixLength
	case spec.PrefixLength != nil:
		out.PrefixLength = spec.PrefixLength
	case exact.IsValid():
		out.PrefixLength = new(exact.Bits())
	}
	return out
}

// decidingClass returns the class that led to the refusal: the class in the error's figures, or else the class that an earlier step chose.
func decidingClass(x claims.Explanation) (project, name string) {
	ref := x.Refusal.Figures.Class
	for _, step := range x.Steps {
		if ref == "" && step.Kind == ipam.StepClass && step.Outcome == ipam.OutcomeChosen {
			ref = step.Name
		}
	}
	project, name, _ = strings.Cut(ref, "/")
	return project, name
}

// StepOf converts a decision's step into its wire form.
func StepOf(s ipam.Step) gen.DecisionStep {
	return gen.DecisionStep{
		Kind: gen.DecisionKind(s.Kind), Name: s.Name, Outcome: gen.DecisionOutcome(s.Outcome),
		Code: gen.ProblemCode(s.Code), Detail: s.Detail,
	}
}
