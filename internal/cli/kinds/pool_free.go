package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// freeDocument is the list of free blocks from all pages.
type freeDocument struct {
	Summary    json.RawMessage   `json:"summary"`
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

func poolFree(p *session.Program, complete verbs.Completion) *cobra.Command {
	bits := verbs.Bits("", false)
	var l session.Paging
	cmd := &cobra.Command{
		Use:   "free NAME",
		Short: "Show the free space of a pool: free blocks, and counts by prefix length",
		Long: `Shows the free blocks. A table shows two numbers for each prefix length: the free blocks with exactly this length, and the
blocks with this length that claims could get. The table omits lengths without a free block (-o wide shows all).`,
		Args:              verbs.Refs("pool", 1, 1),
		ValidArgsFunction: complete,
		RunE: p.Verb(func(ctx context.Context, args []string) error {
			things, err := verbs.Resources(p, p.InProject, args)
			if err != nil {
				return err
			}
			r := things[0]
			var summary json.RawMessage
			h := verbs.Home{Path: func(s *session.Session) []string { return s.In("pools", r.Name, "free") }}
			found, err := r.Pages(ctx, l, h.Fetch(r.Session, session.Query{}.With("prefixLength", bits.String())),
				func(first json.RawMessage) error { return readSummary(first, &summary) })
			if err != nil {
				return err
			}
			var wanted *int
			if length, err := strconv.Atoi(bits.String()); err == nil {
				wanted = &length
			}
			return showFree(p, freeDocument{Summary: summary, Items: found.Items, NextCursor: found.NextCursor}, wanted)
		}),
	}
	cmd.Flags().Var(bits, "prefix-length", "only free blocks with space for a block of this prefix length")
	verbs.AddPaging(&l, cmd)
	return cmd
}

// readSummary keeps the summary of the first page. Every page has the same summary, which is for the whole pool.
func readSummary(doc json.RawMessage, into *json.RawMessage) error {
	if *into != nil {
		return nil
	}
	var first freeDocument
	if err := json.Unmarshal(doc, &first); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	*into = first.Summary
	return nil
}

// showFree prints the free blocks. wanted is the prefix length in the request, or nil if there is none.
func showFree(p *session.Program, doc freeDocument, wanted *int) error {
	if p.Structured() {
		return p.DocumentOf(doc)
	}
	blocks, err := show.Decode[client.FreeBlock](doc.Items)
	if err != nil {
		return err
	}
	if p.Quiet || p.Output == show.FormatName {
		return p.Lines(show.WordsOf(blocks, func(b client.FreeBlock) string { return b.CIDR }))
	}
	var summary []client.FreeSummary
	if err := json.Unmarshal(doc.Summary, &summary); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	text := show.Table(p.Printer, []show.Column[client.FreeSummary]{
		{Title: "LENGTH", Cell: func(s client.FreeSummary) string { return "/" + strconv.Itoa(s.PrefixLength) }},
		{Title: "FREE BLOCKS", Cell: func(s client.FreeSummary) string { return s.FreeBlocks }},
		{Title: "COULD BE CLAIMED", Cell: func(s client.FreeSummary) string { return s.Available }},
	}, hasFreeBlocks(p, summary, wanted))
	blockTable := show.Table(p.Printer, []show.Column[client.FreeBlock]{
		{Title: "FREE BLOCK", Cell: func(b client.FreeBlock) string { return b.CIDR }},
	}, blocks)
	if len(blocks) > 0 && len(text) > 0 {
		text = append(text, '\n')
	}
	if err := p.Write(append(text, blockTable...)); err != nil {
		return err
	}
	switch {
	case doc.NextCursor != "":
		p.Remark("there is more: --cursor %s", doc.NextCursor)
	case len(blocks) == 0 && wanted != nil && len(summary) > 0:
		p.Remark("no free block has space for a /%d", *wanted)
	case len(blocks) == 0:
		p.Remark("no block is free")
	}
	return nil
}

// hasFreeBlocks omits prefix lengths without free blocks, because an IPv6 pool with a /32 block has 97 lengths. It keeps the wanted length. With -o
// wide it keeps all lengths.
func hasFreeBlocks(p *session.Program, all []client.FreeSummary, wanted *int) []client.FreeSummary {
	if p.Output == show.FormatWide {
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
