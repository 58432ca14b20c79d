package releases

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Bounds of releasing many claims by one request.
const (
	MaxReleases     = 1000            // that one request releases
	maxPreviewed    = 10_000          // that a dry run counts
	releasePage     = 100             // that are read, and released, before the request looks whether it goes on
	releasesAtOnce  = 32              // of one request: half of a group, so that others are served along with them
	releaseFarewell = 2 * time.Second // before its deadline a request ends with what it has done
)

// Releasing says which claims are to be released: those that the filter finds, or those of these names. Of a consumer's those that nobody else uses.
type Releasing struct {
	Filter paging.Filter
	Names  []string
	Limit  int // claims that the request comes to at most; 0: MaxReleases

	Token   string    // of a dry run: only what that has shown is released, and nothing if that is something else by now
	Before  time.Time // only claims that were made before
	Cursor  string    // where an earlier request has ended
	Preview int       // claims that a dry run shows
}

// Released is what came of a Releasing.
type Released struct {
	Token string // of a dry run
	Count int    // that a dry run has found
	More  bool   // a dry run has stopped counting
	Shown []ipam.Claim

	Done    int
	Gone    int // were not there any more
	Skipped []Skipped
	Next    string // where another request goes on; "": all is done
}

// Skipped is a claim that stays, and why.
type Skipped struct {
	Name string
	Why  *ipam.Error
}

// releasePlace is how far a release has come: the place in the list of claims, and what bounds it.
type releasePlace struct {
	At     string    `json:"a,omitempty"` // in the list
	Name   int       `json:"n,omitempty"` // in the names
	Before time.Time `json:"b"`           // only claims that were made before
	Strict bool      `json:"s,omitempty"` // and have not changed since
	Seen   string    `json:"h,omitempty"` // of a token: what was shown
}

// Releases is the use case of releasing many claims by one request.
type Releases struct {
	*usecase.Core

	claims *claims.Claims
	places *turns.Places
}

// New makes the room.
func New(core *usecase.Core, c *claims.Claims) *Releases {
	return &Releases{core, c, turns.NewPlaces(turns.BatchesAtOnce, turns.BatchesOfOne, turns.PatientOfOne)}
}

// ReleaseClaims releases claims one by one, each as DeleteClaim does, and those of one pool in common transactions. It stops at the limit or before
// its deadline, and another request goes on from there. Whatever is repeated, no claim is released that was made after Before, or after the dry run
// whose token is given; with a token none that has changed since, and none at all if something else matches than was shown.
func (s *Releases) ReleaseClaims(ctx context.Context, project string, q Releasing, r usecase.Request) (Released, error) {
	_, key, err := s.Enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return Released{}, err
	}
	if f := q.Filter; q.Names == nil && f.Labels == nil && f.Owner == "" && f.Class == "" && f.Pool == (ipam.Ref{}) && f.Consumer == (ipam.ConsumerRef{}) {
		return Released{}, ipam.Invalid("/select", "must have a condition: all claims of a project are not released at once.")
	}
	leave, err := s.places.Enter(ctx, key.ID)
	if err != nil {
		return Released{}, err
	}
	defer leave()
	run := &releasing{Releases: s, key: key, asked: q, of: paging.ListOf("claim-releases", key.ID, q.Filter, q.Names)}
	if r.DryRun {
		return run.preview(ctx)
	}
	if err := run.begin(ctx); err != nil {
		return Released{}, err
	}
	return run.release(ctx)
}

// releasing is one request that releases claims.
type releasing struct {
	*Releases

	key   storage.ProjectKey
	asked Releasing
	of    paging.List // what tokens and cursors are bound to
	place releasePlace
	shown map[ipam.ID]ipam.ID // by a token, at the beginning: the claims and their revisions. A claim has the time at which it was begun, and may be seen later

	mu  sync.Mutex
	out Released
}

// begin finds out from where to go on, and whether what was shown is what there is.
func (s *releasing) begin(ctx context.Context) error {
	switch {
	case s.asked.Cursor != "":
		return paging.OpenCursor(s.asked.Cursor, s.of, &s.place)
	case s.asked.Token == "" && s.asked.Before.IsZero():
		return ipam.Invalid("/token", "or createdBefore is required: a dry run answers a token for what it has shown.")
	case s.asked.Token == "":
		s.place.Before = s.asked.Before
		return nil
	}
	if err := paging.OpenCursor(s.asked.Token, s.of, &s.place); err != nil || s.place.Seen == "" {
		return ipam.Invalid("/token", "is not the token of a dry run of the same selection.")
	}
	now := releasing{Releases: s.Releases, key: s.key, asked: s.asked, of: s.of, place: releasePlace{Before: s.place.Before, Strict: true}, shown: map[ipam.ID]ipam.ID{}}
	found, err := now.preview(ctx)
	if err != nil {
		return err
	}
	var is releasePlace
	if err := paging.OpenCursor(found.Token, s.of, &is); err != nil || is.Seen != s.place.Seen {
		const differs = "What matches is not what the dry run has shown: nothing was released. Look again, by another dry run."
		return ipam.Errorf(ipam.CodePreconditionFailed, "%s", differs).At("/token", "is of what matched earlier.")
	}
	s.place.Seen, s.shown = "", now.shown
	return nil
}

// preview counts what would be released, shows the first of it, and makes a token of all.
func (s *releasing) preview(ctx context.Context) (Released, error) {
	out := Released{Shown: []ipam.Claim{}}
	if s.place.Before.IsZero() {
		s.place = releasePlace{Before: s.Now(), Strict: true}
	}
	seen := sha256.New()
	for {
		found, next, err := s.page(ctx, 500)
		if err != nil {
			return out, err
		}
		for _, c := range found {
			if c.CreatedAt.After(s.place.Before) || c.UpdatedAt.After(s.place.Before) {
				continue
			}
			if err := s.inUse(c); err != nil {
				if len(out.Skipped) < s.asked.Preview {
					out.Skipped = append(out.Skipped, Skipped{c.Name, err})
				}
				continue
			}
			if out.Count == maxPreviewed {
				out.More = true
				return out, nil
			}
			if out.Count++; len(out.Shown) < s.asked.Preview {
				out.Shown = append(out.Shown, c)
			}
			if s.shown != nil {
				s.shown[c.UID] = c.Revision
			}
			seen.Write(c.UID[:])
			seen.Write(c.Revision[:])
		}
		if s.place.At, s.place.Name = next.At, next.Name; next == (releasePlace{}) {
			break
		}
	}
	hash := base64.RawURLEncoding.EncodeToString(seen.Sum(nil)[:16])
	out.Token = paging.SealCursor(s.of, releasePlace{Before: s.place.Before, Strict: true, Seen: hash})
	return out, nil
}

// release releases page by page.
func (s *releasing) release(ctx context.Context) (Released, error) {
	within := ctx
	if deadline, is := ctx.Deadline(); is {
		var cancel context.CancelFunc
		within, cancel = context.WithDeadline(ctx, deadline.Add(-releaseFarewell))
		defer cancel()
	}
	limit := s.asked.Limit
	if limit <= 0 || limit > MaxReleases {
		limit = MaxReleases
	}
	for seen := 0; seen < limit; {
		found, next, err := s.page(within, min(releasePage, limit-seen))
		if err == nil {
			seen += len(found)
			err = s.releaseEach(within, found)
		}
		if err != nil && within.Err() != nil && ctx.Err() == nil { // what was done is told, and the rest of the page comes again
			break
		}
		if err != nil {
			return s.out, err
		}
		if s.place.At, s.place.Name = next.At, next.Name; next == (releasePlace{}) {
			return s.sorted(), nil
		}
	}
	s.out.Next = paging.SealCursor(s.of, s.place)
	return s.sorted(), nil
}

func (s *releasing) sorted() Released {
	slices.SortFunc(s.out.Skipped, func(a, b Skipped) int { return strings.Compare(a.Name, b.Name) })
	return s.out
}

// page reads the claims that come next, and where those after them begin; the zero place: there are none.
func (s *releasing) page(ctx context.Context, limit int) (found []ipam.Claim, next releasePlace, err error) {
	if s.asked.Names == nil {
		page, err := s.claims.ListClaims(ctx, s.key.Name, s.asked.Filter, limit, s.place.At, usecase.Reading{})
		return page.Items, releasePlace{At: page.Next}, err
	}
	names := s.asked.Names[min(s.place.Name, len(s.asked.Names)):]
	if len(names) > limit {
		names, next.Name = names[:limit], s.place.Name+limit
	}
	for _, name := range names {
		c, there, err := storage.IgnoreNotFound(s.Store.ClaimGet(ctx, s.key, name))
		if err != nil {
			return nil, next, err
		}
		if !there {
			s.out.Gone++
			continue
		}
		found = append(found, c)
	}
	return found, next, nil
}

// releaseEach releases claims, many at once: those of one pool meet in its groups. The error is one that is not about a claim.
func (s *releasing) releaseEach(ctx context.Context, found []ipam.Claim) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(releasesAtOnce)
	for _, c := range found {
		if _, shown := s.shown[c.UID]; c.CreatedAt.After(s.place.Before) || s.shown != nil && !shown && s.inUse(c) == nil {
			continue // made since
		}
		g.Go(func() error {
			err := s.releaseOne(ctx, c)
			s.mu.Lock()
			defer s.mu.Unlock()
			refused, is := err.(*ipam.Error) //nolint:errorlint // only the refusal itself is about the claim
			switch {
			case err == nil:
				s.out.Done++
			case ipam.IsCode(err, ipam.CodeNotFound):
				s.out.Gone++
			case is && claims.AboutTheClaim(refused.Code):
				s.out.Skipped = append(s.out.Skipped, Skipped{c.Name, refused})
			default:
				return err
			}
			return nil
		})
	}
	return g.Wait()
}

// releaseOne releases a claim as it was read; by a consumer, with the consumer's attachment to it.
func (s *releasing) releaseOne(ctx context.Context, c ipam.Claim) error {
	if revision, shown := s.shown[c.UID]; s.place.Strict && (c.UpdatedAt.After(s.place.Before) || shown && revision != c.Revision) {
		return claims.ChangedSince(c)
	}
	var because ipam.Because
	if by := s.asked.Filter.Consumer; by != (ipam.ConsumerRef{}) {
		because = ipam.Because{Reason: ipam.ReasonDetached, Consumer: by}
		if err := s.inUse(c); err != nil {
			return err
		}
	}
	return s.claims.ReleaseAsRead(ctx, s.key, c, because)
}

// inUse refuses to release a claim, by a consumer, that others use too; nil: nobody else does.
func (s *releasing) inUse(c ipam.Claim) *ipam.Error {
	by := s.asked.Filter.Consumer
	if by == (ipam.ConsumerRef{}) || c.Consumers < 2 {
		return nil
	}
	e := ipam.Errorf(ipam.CodeInUse, "Claim %s is used by %s, of which %s is one. The others keep it.", c.Ref(), usecase.CountOf(int64(c.Consumers), "consumer"), by)
	e.Figures.Consumers = new(int64(c.Consumers))
	return e
}
