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
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListConsumers(c echo.Context, project, realm string, p gen.ListConsumersParams) error {
	phase := value(p.Phase)
	f := consumers.Filter{Live: phase == gen.IPConsumerPhaseLive, Ended: phase == gen.IPConsumerPhaseEnded}
	return listFollowed(c, s.use, p.Limit, p.Cursor, project, func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Consumer], error) {
		return s.use.ListConsumers(ctx, project, realm, f, limit, cursor, r)
	}, codec.ConsumerOf)
}

func (s *server) GetConsumer(c echo.Context, project, realm, uid string, _ gen.GetConsumerParams) error {
	return get(c, project, uid, func(ctx context.Context, project, uid string) (ipam.Consumer, error) {
		return s.use.GetConsumer(ctx, project, codec.ConsumerRef(realm, uid))
	}, codec.ConsumerOf)
}

func (s *server) PutConsumer(c echo.Context, project, realm, uid string, p gen.PutConsumerParams) error {
	var body gen.IPConsumerPut
	if err := c.Bind(&body); err != nil {
		return err
	}
	return putBare(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, func(ctx context.Context, r usecase.Request) (usecase.Result[ipam.Consumer], error) {
		return s.use.PutConsumer(ctx, project, codec.NewConsumer(realm, uid, body.Spec), r)
	}, codec.ConsumerOf)
}

// EndConsumer returns 202 if the request could not detach all claims. A background job then detaches the rest.
func (s *server) EndConsumer(c echo.Context, project, realm, uid string, p gen.EndConsumerParams) error {
	r, err := conditions{p.IfMatch, nil, p.DryRun}.request()
	if err != nil {
		return err
	}
	remaining, err := s.use.EndConsumer(c.Request().Context(), project, codec.ConsumerRef(realm, uid), r)
	switch {
	case err != nil:
		return err
	case remaining > 0:
		return codec.Answer(c.Response(), http.StatusAccepted, &gen.ConsumerEnding{AttachedClaims: remaining})
	}
	mark(c, r.DryRun, false)
	return c.NoContent(http.StatusNoContent)
}

func (s *server) RenewConsumers(c echo.Context, project string, p gen.RenewConsumersParams) error {
	var body gen.ConsumerRenewal
	if err := c.Bind(&body); err != nil {
		return err
	}
	r := usecase.Request{DryRun: value(p.DryRun)}
	out, err := s.use.RenewConsumers(c.Request().Context(), project, codec.Renewals(body), r)
	if err == nil {
		mark(c, r.DryRun, false)
	}
	return reply(c, out, err, codec.RenewedOf)
}

func (s *server) ListClaimConsumers(c echo.Context, project, claim string, p gen.ListClaimConsumersParams) error {
	return list(c, p.Limit, p.Cursor, project, withArgument(claim, s.use.ListClaimConsumers), codec.AttachmentOf)
}

// AttachConsumer returns the claim.
func (s *server) AttachConsumer(c echo.Context, project, claim, uid string, p gen.AttachConsumerParams) error {
	var body gen.IPConsumerSpec
	if err := c.Bind(&body); err != nil {
		return err
	}
	r, err := conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}.request()
	if err != nil {
		return err
	}
	made, err := s.use.AttachConsumer(c.Request().Context(), project, claim, codec.NewConsumer(value(p.Realm), uid, body), r)
	if err != nil {
		return err
	}
	return answerPut(c, r, made, strings.TrimSuffix(c.Request().URL.Path, "/consumers/"+uid), codec.ClaimOf)
}

func (s *server) DetachConsumer(c echo.Context, project, claim, uid string, p gen.DetachConsumerParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, uid, func(ctx context.Context, project, uid string, r usecase.Request) error {
		return s.use.DetachConsumer(ctx, project, claim, codec.ConsumerRef(value(p.Realm), uid), r)
	})
}

func (s *server) GetRealm(c echo.Context, project, realm string) error {
	r, err := s.use.GetRealm(c.Request().Context(), project, realm)
	return reply(c, r, err, codec.RealmOf)
}

func (s *server) ConfirmExpiry(c echo.Context, project, realm string, p gen.ConfirmExpiryParams) error {
	r := usecase.Request{DryRun: value(p.DryRun)}
	state, err := s.use.ConfirmExpiry(c.Request().Context(), project, realm, r)
	if err == nil {
		mark(c, r.DryRun, false)
	}
	return reply(c, state, err, codec.RealmOf)
}
