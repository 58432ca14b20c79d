package plan

import (
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// planClass is a class of a plan. It has a name, labels, and the fields of the API's spec.
type planClass struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	client.IPClassSpec
}

func (c planClass) create() client.IPClassCreate {
	return client.IPClassCreate{Metadata: client.CreateMetadata{Name: c.Name, Labels: c.Labels, Annotations: c.Annotations}, Spec: c.IPClassSpec}
}

// planClaim is a claim of a plan. It has a name, labels, and the fields of the API's spec.
type planClaim struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Pool        string            `json:"pool"` // name or project/name; a short form of poolRef
	client.IPClaimSpec
}

func (c planClaim) create(pool string) client.IPClaimCreate {
	spec := c.IPClaimSpec
	if pool = show.FirstOf(pool, c.Pool); pool != "" {
		project, name, foreign := strings.Cut(pool, "/")
		if !foreign {
			project, name = "", pool
		}
		spec.PoolRef = &client.Ref{Project: project, Name: name}
	}
	return client.IPClaimCreate{Metadata: client.CreateMetadata{Name: c.Name, Labels: c.Labels, Annotations: c.Annotations}, Spec: spec}
}
