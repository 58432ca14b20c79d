package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// completion proposes arguments to a shell.
type completion = func(cmd *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective)

// Whoever presses Tab waits no longer than this, and gets no more proposals than that.
const (
	completionTime  = 2 * time.Second
	completionLimit = 200
)

// completeWords lets the shell complete a flag that takes one of a few words.
func completeWords[T ~string](cmd *cobra.Command, flag string, of []T) {
	list := make([]string, len(of))
	for i, w := range of {
		list[i] = string(w)
	}
	completeFlag(cmd, flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
}

func completeFlag(cmd *cobra.Command, flag string, propose completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, propose); err != nil {
		panic(err) // the flag is not there, or has one already: a mistake in this package
	}
}

// complete proposes the names of what there is of a kind.
func (k kind[T]) complete() completion {
	if k.nameless {
		return cobra.NoFileCompletions
	}
	return k.p.completeNames(k.home)
}

func (p *program) completeNames(h home) completion {
	return completeWith(p, h.within, func(ctx context.Context, s *session) ([]string, error) {
		found, err := s.pages(ctx, paging{limit: completionLimit}, h.fetch(s, nil))
		if err != nil {
			return nil, err
		}
		named, err := decode[struct{ Metadata client.Metadata }](found.Items)
		return wordsOf(named, func(n struct{ Metadata client.Metadata }) string { return n.Metadata.Name }), err
	})
}

// completeWith proposes what a server answers. One that does not answer, or refuses, proposes nothing: a shell is no place for errors.
func completeWith(p *program, within func() (*session, error), ask func(ctx context.Context, s *session) ([]string, error)) completion {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		p.Err, p.flags.timeout = io.Discard, completionTime
		s, err := within()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		names, err := ask(ctx, s)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func (p *program) completeSpaces() completion  { return p.completeNames(p.homeOf("spaces")) }
func (p *program) completePools() completion   { return p.completeNames(p.homeOf("pools")) }
func (p *program) completeClasses() completion { return p.completeNames(p.homeOf("classes")) }

// completeRegions proposes regions.
func (p *program) completeRegions() completion {
	return completeWith(p, p.session, func(ctx context.Context, s *session) ([]string, error) {
		found, err := s.regions(ctx)
		if err != nil {
			return nil, err
		}
		all, err := decode[client.Region](found.Items)
		return wordsOf(all, func(r client.Region) string { return r.Name }), err
	})
}
