package logspike

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// claimDocument is a claim as the API of Carve reads and writes it.
type claimDocument struct {
	Metadata metadata    `json:"metadata"`
	Spec     claimSpec   `json:"spec"`
	Status   claimStatus `json:"status,omitzero"`
}

type metadata struct {
	Name       string    `json:"name"`
	UID        string    `json:"uid,omitempty"`
	Project    string    `json:"project,omitempty"`
	Region     string    `json:"region,omitempty"`
	Generation int       `json:"generation,omitempty"`
	Revision   string    `json:"revision,omitempty"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	CreatedBy  string    `json:"createdBy,omitempty"`
	UpdatedAt  time.Time `json:"updatedAt,omitzero"`
}

type reference struct {
	Name    string `json:"name"`
	Project string `json:"project,omitempty"`
}

type claimSpec struct {
	PoolRef      reference    `json:"poolRef"`
	PrefixLength int          `json:"prefixLength,omitempty"`
	CIDR         netip.Prefix `json:"cidr,omitzero"`
}

type claimStatus struct {
	AllocatedCIDR netip.Prefix `json:"allocatedCIDR"`
	AllocationRef reference    `json:"allocationRef"`
	Conditions    []condition  `json:"conditions"`
	Phase         string       `json:"phase"`
	PoolRef       reference    `json:"poolRef"`
	ReclaimPolicy string       `json:"reclaimPolicy"`
}

type condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason"`
	Message            string    `json:"message"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// answer completes the document of a claim. The ids follow from the key of the hold, so no column contains them.
func (d *claimDocument) answer(project string, h Hold) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	uid := uuid.NewSHA1(h.Pool, binary.AppendVarint(appendBlock(nil, h.Block), h.Seq)).String()
	d.Metadata = metadata{
		Name: h.Name, UID: uid, Project: project, Region: "local", Generation: 1, Revision: uid,
		CreatedAt: now, CreatedBy: "key:" + project + "/bench", UpdatedAt: now,
	}
	d.Spec.PoolRef.Project = project
	d.Status = claimStatus{
		AllocatedCIDR: h.Block, AllocationRef: reference{uid, project}, Phase: "Bound", PoolRef: d.Spec.PoolRef, ReclaimPolicy: "Delete",
		Conditions: []condition{{
			"Allocated", "True", "AllocationSucceeded", h.Block.String() + " was carved from pool " + project + "/" + d.Spec.PoolRef.Name + ".", now,
		}},
	}
}

// Names of the projects and pools that a handler serves.
type Names struct {
	Projects map[string]ID
	Pools    map[string]ID
}

// Handler serves the claims of an engine. All claims count in the quota, if there is one.
func Handler(e *Engine, names Names, quota ID) http.Handler {
	router := echo.New()
	router.POST("/v1/projects/:project/claims", func(c echo.Context) error { return names.create(e, c, quota) })
	router.DELETE("/v1/projects/:project/claims/:name", func(c echo.Context) error {
		_, err := e.Submit(c.Request().Context(), Request{Project: names.Projects[c.Param("project")], Quota: quota, Release: c.Param("name")})
		if err != nil {
			return refuse(c, err)
		}
		return c.NoContent(http.StatusNoContent)
	})
	return router
}

func (n Names) create(e *Engine, c echo.Context, quota ID) error {
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return err
	}
	var doc claimDocument
	if err := json.Unmarshal(body, &doc); err != nil {
		return echo.NewHTTPError(http.StatusBadRequest, err.Error())
	}
	project, pool := n.Projects[c.Param("project")], n.Pools[doc.Spec.PoolRef.Name]
	r := Request{Project: project, Pool: pool, Quota: quota, Claims: []Claim{{
		Name: doc.Metadata.Name, Length: doc.Spec.PrefixLength, Block: doc.Spec.CIDR, Body: `{"by":"bench","policy":"delete"}`,
	}}}
	if r.Key = c.Request().Header.Get("Idempotency-Key"); r.Key != "" {
		digest := sha256.Sum256(body)
		r.Digest = digest[:16]
	}
	holds, err := e.Submit(c.Request().Context(), r)
	if err != nil {
		return refuse(c, err)
	}
	doc.answer(c.Param("project"), holds[0])
	return c.JSON(http.StatusCreated, doc)
}

// problem is the body of a refusal.
type problem struct {
	Code   Code          `json:"code"`
	Detail string        `json:"detail"`
	Free   map[int]int64 `json:"freeBlocks,omitempty"`
}

func refuse(c echo.Context, err error) error {
	r, refused := errors.AsType[*Refusal](err)
	switch {
	case !refused:
		return echo.NewHTTPError(http.StatusServiceUnavailable, err.Error())
	case r.Code == NotFound:
		return c.JSON(http.StatusNotFound, problem{r.Code, r.Error(), nil})
	default:
		return c.JSON(http.StatusConflict, problem{r.Code, r.Error(), r.Counts})
	}
}
