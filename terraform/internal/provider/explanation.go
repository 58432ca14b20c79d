package provider

import (
	"context"
)

// explanation returns the data source that explains the block that the server would assign to a claim. Its inputs are a claim's attributes. Its outputs
// are the server's explanation.
func explanation() *dataSource {
	from := map[string]string{
		"class": "/className", "pool": "/poolRef", "cidr": "/allocatedCIDR", "prefix_length": "/prefixLength", "reclaim_policy": "/reclaimPolicy",
	}
	inputs := []field{projectField}
	for _, f := range claimSpec() {
		if f.form != object {
			f.from, f.derive = from[f.name], nil
			inputs = append(inputs, f)
		}
	}
	sentence := field{name: "detail", about: "Explanation in one sentence."}
	s := &dataSource{
		kind: kind{name: "claim_explanation"}, typeName: "claim_explanation",
		summary: "Explains which block a claim would get now, and why. It allocates nothing. Its attributes are those of a claim; the server fills in the values that the claim would have.",
		rule:    func(v values) []fault { return append(claimInvalid(v), claimIncoherent(v)...) },
		inputs:  inputs,
		outputs: []field{
			{name: "outcome", from: "/outcome", about: "`Bound` or `Refused`."},
			{name: "code", from: "/code", about: "Refusal code; null if the claim would be bound."},
			{name: "detail", from: "/detail", about: "The outcome in one sentence."},
			{name: "steps", form: objects, from: "/steps", about: "Steps in the decision, in order.", fields: []field{
				{name: "kind", about: "Kind of the object that the step examined, such as a pool."}, {name: "name", about: "The object, as `project/name`."},
				{name: "outcome", about: "Result of the step."}, {name: "code", about: "Reason why the object was not used; null if there is none."}, sentence,
			}},
			{name: "remedies", form: objects, from: "/remedies", about: "Changes that would make the claim succeed.", fields: []field{
				{name: "pointer", about: "JSON pointer to the value to change in the request."}, {name: "value", about: "The value to set there."}, sentence,
			}},
		},
	}
	s.read = s.explain
	return s
}

// explain requests the explanation from the server.
func (s *dataSource) explain(ctx context.Context, a *api, config values) (values, error) {
	d, err := a.explain(ctx, config, kind{fields: s.inputs}.body(config, nil))
	if err != nil {
		return nil, err
	}
	for _, f := range s.attributes() {
		if config[f.name] == nil && f.from != "" {
			config[f.name] = f.fromAPI(d.get(f.from))
		}
	}
	return config, nil
}
