package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// consumerHandlers serves consumers.
type consumerHandlers struct {
	use     Consumers
	changes Changes
}

func (s consumerHandlers) ListConsumers(c echo.Context, project, realm string, p gen.ListConsumersParams) error {
	phase := codec.ValueOr(p.Phase, "")
	f := consumers.Filter{Live: phase == gen.IPConsumerPhaseLive, Ended: phase == gen.IPConsumerPhaseEnded}
	return followed(c, s.changes, p.Limit, p.Cursor, project, func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Consumer], error) {
		return s.use.ListConsumers(ctx, project, realm, f, limit, cursor, r)
	}, codec.ConsumerOf)
}

func (s consumerHandlers) GetConsumer(c echo.Context, project, realm, uid string, _ gen.GetConsumerParams) error {
	return get(c, project, uid, func(ctx context.Context, project, uid string) (ipam.Consumer, error) {
		return s.use.GetConsumer(ctx, project, codec.ConsumerRef(realm, uid))
	}, codec.ConsumerOf)
}

func (s consumerHandlers) PutConsumer(c echo.Context, project, realm, uid string, p gen.PutConsumerParams) error {
	var body gen.IPConsumerPut
	if err := c.Bind(&body); err != nil {
		return err
	}
	return putBare(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, func(ctx context.Context, r usecase.Request) (usecase.Result[ipam.Consumer], error) {
		return s.use.PutConsumer(ctx, project, codec.NewConsumer(realm, uid, body.Spec), r)
	}, codec.ConsumerOf)
}

// EndConsumer returns 202 if the request could not detach all claims. A background job then detaches the rest.
func (s consumerHandlers) EndConsumer(c echo.Context, project, realm, uid string, p gen.EndConsumerParams) error {
	match, err := parseMatch(contract.IfMatch, p.IfMatch)
	if err != nil {
		return err
	}
	r := usecase.Request{IfMatch: match, DryRun: codec.ValueOr(p.DryRun, false)}
	left, err := s.use.EndConsumer(c.Request().Context(), project, codec.ConsumerRef(realm, uid), r)
	switch {
	case err != nil:
		return err
	case left > 0:
		return codec.Answer(c.Response(), http.StatusAccepted, &gen.ConsumerEnding{AttachedClaims: left})
	}
	mark(c, r.DryRun, false)
	return c.NoContent(http.StatusNoContent)
}

func (s consumerHandlers) RenewConsumers(c echo.Context, project string, p gen.RenewConsumersParams) error {
	var body gen.ConsumerRenewal
	if err := c.Bind(&body); err != nil {
		return err
	}
	r := usecase.Request{DryRun: codec.ValueOr(p.DryRun, false)}
	out, err := s.use.RenewConsumers(c.Request().Context(), project, codec.Renewals(body), r)
	if err != nil {
		return err
	}
	mark(c, r.DryRun, false)
	renewed := codec.RenewedOf(out)
	return codec.Answer(c.Response(), http.StatusOK, &renewed)
}

func (s consumerHandlers) ListClaimConsumers(c echo.Context, project, claim string, p gen.ListClaimConsumersParams) error {
	return list(c, p.Limit, p.Cursor, project, func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Attachment], error) {
		return s.use.ListClaimConsumers(ctx, project, claim, limit, cursor, r)
	}, codec.AttachmentOf)
}

// AttachConsumer returns the claim.
func (s consumerHandlers) AttachConsumer(c echo.Context, project, claim, uid string, p gen.AttachConsumerParams) error {
	var body gen.IPConsumerSpec
	if err := c.Bind(&body); err != nil {
		return err
	}
	match, err := parseMatch(contract.IfMatch, p.IfMatch)
	if err != nil {
		return err
	}
	r := usecase.Request{IfMatch: match, CreateOnly: p.IfNoneMatch != nil, DryRun: codec.ValueOr(p.DryRun, false)}
	made, err := s.use.AttachConsumer(c.Request().Context(), project, claim, codec.NewConsumer(codec.ValueOr(p.Realm, ""), uid, body), r)
	if err != nil {
		return err
	}
	mark(c, r.DryRun, false)
	if made.Existed {
		return answer(c, http.StatusOK, made.Value, codec.ClaimOf)
	}
	locate(c, strings.TrimSuffix(c.Request().URL.Path, "/consumers/"+uid))
	return answer(c, http.StatusCreated, made.Value, codec.ClaimOf)
}

func (s consumerHandlers) DetachConsumer(c echo.Context, project, claim, uid string, p gen.DetachConsumerParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, uid, func(ctx context.Context, project, uid string, r usecase.Request) error {
		return s.use.DetachConsumer(ctx, project, claim, codec.ConsumerRef(codec.ValueOr(p.Realm, ""), uid), r)
	})
}

func (s consumerHandlers) GetRealm(c echo.Context, project, realm string) error {
	r, err := s.use.GetRealm(c.Request().Context(), project, realm)
	return answerRealm(c, r, err)
}

func (s consumerHandlers) ConfirmExpiry(c echo.Context, project, realm string, p gen.ConfirmExpiryParams) error {
	r := usecase.Request{DryRun: codec.ValueOr(p.DryRun, false)}
	state, err := s.use.ConfirmExpiry(c.Request().Context(), project, realm, r)
	if err == nil {
		mark(c, r.DryRun, false)
	}
	return answerRealm(c, state, err)
}

func answerRealm(c echo.Context, r ipam.Realm, err error) error {
	if err != nil {
		return err
	}
	state := codec.RealmOf(r)
	return codec.Answer(c.Response(), http.StatusOK, &state)
}
