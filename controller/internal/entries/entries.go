// Package entries reads the claims that a pod requests, and the status annotation with their outcomes.
package entries

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	strict "sigs.k8s.io/json"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// Entry is one claim that a pod requests.
type Entry struct {
	// Name identifies the entry among the pod's entries.
	Name string `json:"name"`
	// Template is the template for a claim that the pod owns.
	Template string `json:"template,omitempty"`
	// Claim is an existing claim, which several pods may share.
	Claim string `json:"claim,omitempty"`
	// Interface is the pod's interface for the address, under its name in the pod's network status.
	Interface string `json:"interface,omitempty"`
}

// most is the maximum number of entries in a pod.
const most = 32

// Of returns a pod's entries. An unknown field is an error, because a later version of the controller may give it a meaning.
func Of(pod client.Object) ([]Entry, error) {
	text, asks := pod.GetAnnotations()[ipam.ClaimsAnnotation]
	if !asks {
		return nil, nil
	}
	var all []Entry
	unknown, err := strict.UnmarshalStrict([]byte(text), &all)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return nil, fmt.Errorf("%s: %w", ipam.ClaimsAnnotation, err)
	}
	if len(all) > most {
		return nil, fmt.Errorf("%s: %d entries are more than the maximum of %d", ipam.ClaimsAnnotation, len(all), most)
	}
	names := map[string]bool{}
	for _, e := range all {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: entry %q: %w", ipam.ClaimsAnnotation, e.Name, err)
		}
		if names[e.Name] {
			return nil, fmt.Errorf("%s: entry %q is listed twice", ipam.ClaimsAnnotation, e.Name)
		}
		names[e.Name] = true
	}
	return all, nil
}

func (e Entry) check() error {
	if len(validation.IsDNS1123Label(e.Name)) > 0 {
		return errors.New("name must have at most 63 lower case letters, digits and hyphens")
	}
	if (e.Template == "") == (e.Claim == "") {
		return errors.New("set exactly one of template and claim")
	}
	if len(validation.IsDNS1123Subdomain(e.Template+e.Claim)) > 0 {
		return errors.New("the template or claim is not a valid name")
	}
	return nil
}

// Outcome is the result for an entry.
type Outcome struct {
	// Claim is the IPClaim's name.
	Claim string `json:"claim"`
	// CIDR is the block, once Carve holds it for the pod.
	CIDR string `json:"cidr,omitempty"`
	// Address is the block's address, if the block has only one.
	Address string `json:"address,omitempty"`
	// Kept means that the pod no longer requests the claim. The pod keeps the claim until the pod ends, because it may use the block.
	Kept bool `json:"kept,omitempty"`
}

// Outcomes maps the names of a pod's entries to their outcomes.
type Outcomes map[string]Outcome

// OutcomesOf returns the outcomes in a pod's status annotation. If the annotation is unreadable, it returns no outcomes.
func OutcomesOf(pod client.Object) Outcomes {
	told := Outcomes{}
	if json.Unmarshal([]byte(pod.GetAnnotations()[ipam.StatusAnnotation]), &told) != nil {
		return Outcomes{}
	}
	return told
}

// String returns the text for the status annotation.
func (o Outcomes) String() string {
	text, err := json.Marshal(o)
	if err != nil { // strings always have a JSON form
		return ""
	}
	return string(text)
}
