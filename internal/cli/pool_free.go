package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// freeDocument is a whole answer about what is free, with the blocks of all pages.
type freeDocument struct {
	Summary    json.RawMessage   `json:"summary"`
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

func (p *program) poolFree(complete completion) *cobra.Command {
	var bits length
	var l paging
	cmd := &cobra.Command{
		Use:   "free NAME",
		Short: "Show what is free in a pool: how much of each length, and where",
		Long: `Shows the free blocks, and for each prefix length how many free blocks there are of exactly that length and how many
blocks of that length could be claimed. The table leaves out the lengths of which there is no block (-o wide has all).`,
		Args:              refs("pool", 1, 1),
		ValidArgsFunction: complete,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			things, err := p.resources(p.inProject, args)
			if err != nil {
				return err
			}
			r := things[0]
			var summary json.RawMessage
			h := home{path: func(s *session) []string { return s.in("pools", r.name, "free") }}
			found, err := r.pages(ctx, l, h.fetch(r.session, query{}.with("prefixLength", bits.String())),
				func(first json.RawMessage) error { return readSummary(first, &summary) })
			if err != nil {
				return err
			}
			return p.showFree(freeDocument{Summary: summary, Items: found.Items, NextCursor: found.NextCursor}, bits.bits)
		}),
	}
	cmd.Flags().Var(&bits, "prefix-length", "only free blocks that can hold a block of this length")
	l.add(cmd)
	return cmd
}

// readSummary keeps the summary of the first page; it is about the whole pool on every page.
func readSummary(doc json.RawMessage, into *json.RawMessage) error {
	if *into != nil {
		return nil
	}
	var first freeDocument
	if err := json.Unmarshal(doc, &first); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	*into = first.Summary
	return nil
}

// showFree prints what is free. wanted is the length that was asked about, or nil.
func (p *program) showFree(doc freeDocument, wanted *int) error {
	switch p.flags.output {
	case formatJSON, formatYAML:
		whole, err := marshal(doc)
		if err != nil {
			return err
		}
		return p.document(whole)
	}
	blocks, err := decode[client.FreeBlock](doc.Items)
	if err != nil {
		return err
	}
	if p.flags.quiet || p.flags.output == formatName {
		return p.lines(wordsOf(blocks, func(b client.FreeBlock) string { return b.CIDR }))
	}
	var summary []client.FreeSummary
	if err := json.Unmarshal(doc.Summary, &summary); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	text := tableOf(p, []column[client.FreeSummary]{
		{title: "LENGTH", cell: func(s client.FreeSummary) string { return "/" + strconv.Itoa(s.PrefixLength) }},
		{title: "FREE BLOCKS", cell: func(s client.FreeSummary) string { return s.FreeBlocks }},
		{title: "COULD BE CLAIMED", cell: func(s client.FreeSummary) string { return s.Available }},
	}, p.worthShowing(summary, wanted))
	blockTable := tableOf(p, []column[client.FreeBlock]{
		{title: "FREE BLOCK", cell: func(b client.FreeBlock) string { return b.CIDR }},
	}, blocks)
	if len(blocks) > 0 && len(text) > 0 {
		text = append(text, '\n')
	}
	if err := p.write(append(text, blockTable...)); err != nil {
		return err
	}
	switch {
	case doc.NextCursor != "":
		p.remark("there is more: --cursor %s", doc.NextCursor)
	case len(blocks) == 0 && wanted != nil && len(summary) > 0:
		p.remark("nothing as large as a /%d is free", *wanted)
	case len(blocks) == 0:
		p.remark("nothing is free")
	}
	return nil
}

// worthShowing leaves out lengths of which there is no block, unless one was asked about: an IPv6 pool has 97 of them.
func (p *program) worthShowing(all []client.FreeSummary, wanted *int) []client.FreeSummary {
	if p.flags.output == formatWide {
		return all
	}
	var out []client.FreeSummary
	for _, s := range all {
		if s.FreeBlocks != "0" || wanted != nil && s.PrefixLength == *wanted {
			out = append(out, s)
		}
	}
	return out
}
