package provider

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// holding links a Terraform resource to its Carve object. Terraform stores it in the state's private part.
type holding struct {
	// Token identifies the resource. It is unique in a state.
	Token string `json:"token"`
	// Mark is the annotation [holder] that the object had when the resource got it. If the object now has another value,
	// another resource has taken the object over.
	Mark string `json:"mark"`
	// Imported is true until the provider has read an imported object's annotation.
	Imported bool `json:"imported,omitempty"`
}

// privateKey is the holding's key in the state's private part.
const privateKey = "holding"

// private is a state's private part. Terraform stores it but does not show it.
type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// newHolding makes a holding for a resource that creates its object next. The resource writes the mark into the object's annotation.
func newHolding() holding {
	id := uuid.NewString()
	return holding{Token: id, Mark: id}
}

// holdingOf reads the holding from a state's private part. If the state has no holding, the token is empty.
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

// lost reports whether another resource has taken the object over from this resource.
func (h holding) lost(d document) bool {
	mark := d.annotation(holder)
	return h.Token != "" && !h.Imported && mark != "" && mark != h.Mark
}

// These are the annotations that the provider writes. madeBy has the owner (a provider setting) that created the object. holder has the mark from
// the resource that manages the object now.
const (
	madeBy = "terraform/made-by"
	holder = "terraform/holder"
)

// marks lists the annotations that the provider writes.
var marks = []string{madeBy, holder}

func (d document) annotation(name string) string {
	annotations, _ := d.get("/metadata/annotations").(map[string]any)
	text, _ := annotations[name].(string)
	return text
}

// marksOf returns the provider's annotations for an object that a resource with this holding creates.
func (a *api) marksOf(h holding) map[string]any {
	marks := map[string]any{holder: h.Mark}
	if a.owner != "" {
		marks[madeBy] = a.owner
	}
	return marks
}
