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
	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// These limits apply to one request that releases many claims.
const (
	MaxReleases      = 1000            // claims that one request releases
	maxPreviewed     = 10_000          // claims that a dry run counts
	releasePage      = 100             // claims that a request reads and releases before it checks whether to continue
	parallelReleases = 32              // concurrent releases in one request; only half of usecase.MaxGroup, so that transactions have room for other requests
	releaseMargin    = 2 * time.Second // a request stops this long before its deadline, so that it can return its result
)

// Selection selects the claims to release, by a filter or by names. If the filter has a consumer, the selection leaves out claims that other
// consumers also use.
type Selection struct {
	Filter paging.Filter
	Names  []string
	Limit  int // maximum number of releases in this request; 0: MaxReleases

	Token   string    // from a dry run; release only the claims that the dry run counted, and none if the selection has changed
	Before  time.Time // only claims created before this time
	Cursor  string    // the position where an earlier request stopped
	Preview int       // how many claims a dry run shows
}

// Report is the result of a request to release the claims in a Selection.
type Report struct {
	Token  string // from a dry run
	Count  int    // claims that a dry run has counted
	More   bool   // more claims match than a dry run counts
	Claims []ipam.Claim

	Done    int
	Gone    int // claims that no longer existed
	Skipped []Skipped
	Next    string // position for the next request; "": no claims are left
}

// Skipped is a claim that the request did not release, with the reason.
type Skipped struct {
	Name   string
	Reason *ipam.Error
}

// releasePlace is a release's progress. It contains the position in the list of claims, and restricts the claims to release. Tokens and cursors
// encode it.
type releasePlace struct {
	At     string    `json:"a,omitempty"` // position in the list
	Name   int       `json:"n,omitempty"` // position in the names
	Before time.Time `json:"b"`           // only claims created before this time
	Strict bool      `json:"s,omitempty"` // only claims that have not changed since Before
	Seen   string    `json:"h,omitempty"` // in a token: hash over the claims that the dry run counted
}

// Releases contains the use case that releases many claims in one request.
type Releases struct {
	*usecase.Core

	claims *claims.Claims
	slots  *locks.FairSemaphore
}

// New creates the use case.
func New(core *usecase.Core, c *claims.Claims) *Releases {
	return &Releases{core, c, locks.NewFairSemaphore(locks.MaxBatches, locks.MaxBatchesPerProject, locks.MaxWaitingPerProject)}
}

// ReleaseClaims releases the selected claims. It releases each claim as DeleteClaim does, but claims in one pool share transactions. It stops at the
// limit or shortly before its deadline, and another request can continue from there.
//
// A request releases no claim that was created after the time in Before, or after the dry run that returned the token. This is also true for a
// repeated request. If the request has a token, it releases no claim that has changed since the dry run. It releases nothing if the selection differs
// from the dry run.
func (s *Releases) ReleaseClaims(ctx context.Context, project string, q Selection, r usecase.Request) (Report, error) {
	_, key, err := s.Enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return Report{}, err
	}
	if f := q.Filter; q.Names == nil && f.Labels == nil && f.Owner == "" && f.Class == "" && f.Pool == (ipam.Ref{}) && f.Consumer == (ipam.ConsumerRef{}) {
		return Report{}, ipam.Invalid("/select", "must have a condition: one request cannot select all claims of a project.")
	}
	leave, err := s.slots.AcquireForWork(ctx, key.ID)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	run := &releasing{Releases: s, key: key, asked: q, of: paging.ListOf("claim-releases", key.ID, q.Filter, q.Names)}
	if r.DryRun {
		return run.preview(ctx)
	}
	if err := run.begin(ctx); err != nil {
		return Report{}, err
	}
	return run.release(ctx)
}

type releasing struct {
	*Releases

	key      storage.ProjectKey
	asked    Selection
	of       paging.List // the list to which tokens and cursors are bound
	progress releasePlace
	// shown contains the claims that the dry run counted, with their revisions. It is nil unless the request begins with a token. A comparison of
	// CreatedAt is not enough, because CreatedAt is the start of the claim's transaction. So a claim may become visible after the dry run, although
	// its CreatedAt is earlier.
	shown map[ipam.ID]ipam.ID

	mu  sync.Mutex
	out Report
}

// begin finds the start position. If the request has a token, begin also checks that the selection still equals the dry run's selection.
func (s *releasing) begin(ctx context.Context) error {
	switch {
	case s.asked.Cursor != "":
		return paging.OpenCursor(s.asked.Cursor, s.of, &s.progress)
	case s.asked.Token == "" && s.asked.Before.IsZero():
		return ipam.Invalid("/token", "or createdBefore is required; a dry run returns the token.")
	case s.asked.Token == "":
		s.progress.Before = s.asked.Before
		return nil
	}
	if err := paging.OpenCursor(s.asked.Token, s.of, &s.progress); err != nil || s.progress.Seen == "" {
		return ipam.Invalid("/token", "is not the token of a dry run of the same selection.")
	}
	now := releasing{Releases: s.Releases, key: s.key, asked: s.asked, of: s.of, progress: releasePlace{Before: s.progress.Before, Strict: true}, shown: map[ipam.ID]ipam.ID{}}
	found, err := now.preview(ctx)
	if err != nil {
		return err
	}
	var is releasePlace
	if err := paging.OpenCursor(found.Token, s.of, &is); err != nil || is.Seen != s.progress.Seen {
		const differs = "The matching claims have changed since the dry run. Nothing was released. Repeat the dry run and use its token."
		return ipam.Errorf(ipam.CodePreconditionFailed, "%s", differs).At("/token", "belongs to an outdated dry run.")
	}
	s.progress.Seen, s.shown = "", now.shown
	return nil
}

// preview counts the claims that a request would release. It returns the first claims, and a token for all claims.
func (s *releasing) preview(ctx context.Context) (Report, error) {
	out := Report{Claims: []ipam.Claim{}}
	if s.progress.Before.IsZero() {
		s.progress = releasePlace{Before: s.Now(), Strict: true}
	}
	seen := sha256.New()
	for {
		found, next, err := s.readPage(ctx, 500)
		if err != nil {
			return out, err
		}
		for _, c := range found {
			if c.CreatedAt.After(s.progress.Before) || c.UpdatedAt.After(s.progress.Before) {
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
			if out.Count++; len(out.Claims) < s.asked.Preview {
				out.Claims = append(out.Claims, c)
			}
			if s.shown != nil {
				s.shown[c.UID] = c.Revision
			}
			seen.Write(c.UID[:])
			seen.Write(c.Revision[:])
		}
		if s.progress.At, s.progress.Name = next.At, next.Name; next == (releasePlace{}) {
			break
		}
	}
	hash := base64.RawURLEncoding.EncodeToString(seen.Sum(nil)[:16])
	out.Token = paging.SealCursor(s.of, releasePlace{Before: s.progress.Before, Strict: true, Seen: hash})
	return out, nil
}

// release releases the selected claims, page by page.
func (s *releasing) release(ctx context.Context) (Report, error) {
	within := ctx
	if deadline, is := ctx.Deadline(); is {
		var cancel context.CancelFunc
		within, cancel = context.WithDeadline(ctx, deadline.Add(-releaseMargin))
		defer cancel()
	}
	limit := s.asked.Limit
	if limit <= 0 || limit > MaxReleases {
		limit = MaxReleases
	}
	for seen := 0; seen < limit; {
		found, next, err := s.readPage(within, min(releasePage, limit-seen))
		if err == nil {
			seen += len(found)
			err = s.releaseEach(within, found)
		}
		if err != nil && within.Err() != nil && ctx.Err() == nil { // time is up: return the progress, and the next request reads the rest of the page again
			break
		}
		if err != nil {
			return s.out, err
		}
		if s.progress.At, s.progress.Name = next.At, next.Name; next == (releasePlace{}) {
			return s.sorted(), nil
		}
	}
	s.out.Next = paging.SealCursor(s.of, s.progress)
	return s.sorted(), nil
}

func (s *releasing) sorted() Report {
	slices.SortFunc(s.out.Skipped, func(a, b Skipped) int { return strings.Compare(a.Name, b.Name) })
	return s.out
}

// readPage reads the next claims, and returns the position after them. A zero position means that no claims follow.
func (s *releasing) readPage(ctx context.Context, limit int) (found []ipam.Claim, next releasePlace, err error) {
	if s.asked.Names == nil {
		page, err := s.claims.ListClaims(ctx, s.key.Name, s.asked.Filter, limit, s.progress.At, usecase.Reading{})
		return page.Items, releasePlace{At: page.Next}, err
	}
	names := s.asked.Names[min(s.progress.Name, len(s.asked.Names)):]
	if len(names) > limit {
		names, next.Name = names[:limit], s.progress.Name+limit
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

// releaseEach releases claims concurrently, so that claims in one pool share transactions. An error that concerns only one claim goes into the
// report. releaseEach returns all other errors.
func (s *releasing) releaseEach(ctx context.Context, found []ipam.Claim) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelReleases)
	for _, c := range found {
		if _, shown := s.shown[c.UID]; c.CreatedAt.After(s.progress.Before) || s.shown != nil && !shown && s.inUse(c) == nil {
			continue // created after Before, or not visible in the dry run
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

// releaseOne releases a claim. It returns an error if the claim has changed since the read. If the filter has a consumer, releaseOne also deletes the
// consumer's attachment.
func (s *releasing) releaseOne(ctx context.Context, c ipam.Claim) error {
	if revision, shown := s.shown[c.UID]; s.progress.Strict && (c.UpdatedAt.After(s.progress.Before) || shown && revision != c.Revision) {
		return claims.ChangedSince(c)
	}
	var because ipam.ReleaseCause
	if by := s.asked.Filter.Consumer; by != (ipam.ConsumerRef{}) {
		because = ipam.ReleaseCause{Reason: ipam.ReasonDetached, Consumer: by}
		if err := s.inUse(c); err != nil {
			return err
		}
	}
	return s.claims.ReleaseAsRead(ctx, s.key, c, because)
}

// inUse returns an error if the filter has a consumer and other consumers also use the claim. Otherwise it returns nil.
func (s *releasing) inUse(c ipam.Claim) *ipam.Error {
	by := s.asked.Filter.Consumer
	if by == (ipam.ConsumerRef{}) || c.Consumers < 2 {
		return nil
	}
	e := ipam.Errorf(ipam.CodeInUse, "Claim %s is used by %s, including %s. The other consumers still need it. To end only the use by %s, detach that consumer.", c.Ref(), usecase.CountOf(int64(c.Consumers), "consumer"), by, by)
	e.Figures.Consumers = new(int64(c.Consumers))
	return e
}
