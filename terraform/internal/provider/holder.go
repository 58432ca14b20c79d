package provider

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// holding ties a resource to its object. The state's private part has it.
type holding struct {
	// Token identifies the resource; it is unique in a state.
	Token string `json:"token"`
	// Mark is the object's annotation [holder] at the time when the resource got the object. Another mark on the object means that another resource
	// has taken it over.
	Mark string `json:"mark"`
	// Imported is true until the provider has read an imported object's mark.
	Imported bool `json:"imported,omitempty"`
}

// privateKey is the holding's key in the state's private part.
const privateKey = "holding"

// private is the private part of a state.
type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// newHolding makes the holding of a resource that is about to create its object. The resource writes the mark into the object.
func newHolding() holding {
	id := uuid.NewString()
	return holding{Token: id, Mark: id}
}

// holdingOf reads the holding from a state's private part. An empty token means that it has none.
func holdingOf(ctx context.Context, from private) (h holding) {
	if text, _ := from.GetKey(ctx, privateKey); text != nil {
		_ = json.Unmarshal(text, &h) // this provider wrote it
	}
	return h
}

func (h holding) store(ctx context.Context, to private) diag.Diagnostics {
	text, err := json.Marshal(h)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("The holder cannot be stored", err.Error())}
	}
	return to.SetKey(ctx, privateKey, text)
}

// lost reports whether another resource has taken the object over.
func (h holding) lost(d document) bool {
	mark := d.annotation(holder)
	return h.Token != "" && !h.Imported && mark != "" && mark != h.Mark
}

// Annotations that the provider writes: the owner that made the object, and the mark of the resource that has it.
const (
	madeBy = "terraform/made-by"
	holder = "terraform/holder"
)

// marks lists the provider's annotations.
var marks = []string{madeBy, holder}

func (d document) annotation(name string) string {
	annotations, _ := d.get("/metadata/annotations").(map[string]any)
	text, _ := annotations[name].(string)
	return text
}

// marksOf returns the annotations for an object that a resource with this holding creates.
func (a *api) marksOf(h holding) map[string]any {
	marks := map[string]any{holder: h.Mark}
	if a.owner != "" {
		marks[madeBy] = a.owner
	}
	return marks
}
