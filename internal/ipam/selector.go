package ipam

import (
	"slices"
	"strconv"
)

// Operator is a requirement's operator, as in Kubernetes.
type Operator string

// The operators.
const (
	OpIn           Operator = "In"
	OpNotIn        Operator = "NotIn" // also true if the key is absent
	OpExists       Operator = "Exists"
	OpDoesNotExist Operator = "DoesNotExist"
)

// Limits for a selector.
const (
	MaxRequirements      = 32
	MaxRequirementValues = 64
)

// Requirement is one condition on labels.
type Requirement struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Selector lists conditions on labels. Labels match if they satisfy all conditions. The empty selector matches everything.
type Selector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
	MatchExpressions []Requirement     `json:"matchExpressions,omitempty"`
}

// Matches reports whether the labels satisfy every condition.
func (s Selector) Matches(labels map[string]string) bool {
	for key, want := range s.MatchLabels {
		if got, ok := labels[key]; !ok || got != want {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		if !r.matches(labels) {
			return false
		}
	}
	return true
}

func (r Requirement) matches(labels map[string]string) bool {
	got, ok := labels[r.Key]
	switch r.Operator {
	case OpIn:
		return ok && slices.Contains(r.Values, got)
	case OpNotIn:
		return !ok || !slices.Contains(r.Values, got)
	case OpExists:
		return ok
	case OpDoesNotExist:
		return !ok
	default:
		return false
	}
}

// Check validates a selector. pointer is its JSON pointer.
func (s Selector) Check(pointer string) error {
	if len(s.MatchLabels)+len(s.MatchExpressions) > MaxRequirements {
		return Invalid(pointer, "has more than %d conditions.", MaxRequirements)
	}
	if err := CheckLabels(pointer+"/matchLabels", s.MatchLabels); err != nil {
		return err
	}
	for i, r := range s.MatchExpressions {
		at := pointer + "/matchExpressions/" + strconv.Itoa(i)
		if !ValidLabelKey(r.Key) {
			return Invalid(at+"/key", "is not a label key: [prefix/]name with a name of 1 to 63 characters from [A-Za-z0-9._-].")
		}
		switch r.Operator {
		case OpIn, OpNotIn:
			if len(r.Values) == 0 || len(r.Values) > MaxRequirementValues {
				return Invalid(at+"/values", "must have 1 to %d values for %s.", MaxRequirementValues, r.Operator)
			}
		case OpExists, OpDoesNotExist:
			if len(r.Values) != 0 {
				return Invalid(at+"/values", "must be empty for %s.", r.Operator)
			}
		default:
			return Invalid(at+"/operator", "must be one of In, NotIn, Exists, DoesNotExist.")
		}
		for j, v := range r.Values {
			if !labelValueRE.MatchString(v) {
				return Invalid(at+"/values/"+strconv.Itoa(j), "must be empty or 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit.")
			}
		}
	}
	return nil
}
