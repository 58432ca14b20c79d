package kinds

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// freeDocument has the free blocks from all pages.
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
		RunE: verbs.OnOne(p, func(ctx context.Context, r verbs.Resource) error {
			var doc freeDocument
			path, q := r.In("pools", r.Name, "free"), session.Query{}.With("prefixLength", bits.String())
			page, err := r.Pages(ctx, l, r.Fetch(path, q), func(page json.RawMessage) (err error) {
				if doc.Summary == nil { // every page has the same summary, which is for the whole pool
					doc, err = show.Read[freeDocument](page)
				}
				return err
			})
			if err != nil {
				return err
			}
			doc.Items, doc.NextCursor = page.Items, page.NextCursor
			return showFree(p, doc, bits.String())
		}),
	}
	cmd.Flags().Var(bits, "prefix-length", "only free blocks with space for a block of this prefix length")
	verbs.AddPaging(&l, cmd)
	return cmd
}

// showFree prints the free blocks. wanted is the prefix length in the request, or "" if there is none.
func showFree(p *session.Program, doc freeDocument, wanted string) error {
	blocks, err := show.Decode[client.FreeBlock](doc.Items)
	if err != nil {
		return err
	}
	words := func() []string { return show.WordsOf(blocks, func(b client.FreeBlock) string { return b.CIDR }) }
	return p.Report(doc, words, func() error {
		summary, err := show.Read[[]client.FreeSummary](doc.Summary)
		if err != nil {
			return err
		}
		text := show.Table(p.Printer, show.Columns[client.FreeSummary](`
			LENGTH: length
			FREE BLOCKS: freeBlocks
			COULD BE CLAIMED: available`, show.Cells[client.FreeSummary]{
			"length": func(s client.FreeSummary) string { return show.PrefixLengthText(&s.PrefixLength) },
		}), hasFreeBlocks(p, summary, wanted))
		blockTable := show.Table(p.Printer, show.Columns[client.FreeBlock]("FREE BLOCK: cidr", nil), blocks)
		if len(blocks) > 0 && len(text) > 0 {
			text = append(text, '\n')
		}
		if err := p.Write(append(text, blockTable...)); err != nil {
			return err
		}
		switch {
		case doc.NextCursor != "":
			p.Remark("there is more: --cursor %s", doc.NextCursor)
		case len(blocks) == 0 && wanted != "" && len(summary) > 0:
			p.Remark("no free block has space for a /%s", wanted)
		case len(blocks) == 0:
			p.Remark("no block is free")
		}
		return nil
	})
}

// hasFreeBlocks omits prefix lengths without free blocks, because an IPv6 pool with a /32 block has 97 lengths. It keeps the wanted length. With -o
// wide it keeps all lengths.
func hasFreeBlocks(p *session.Program, all []client.FreeSummary, wanted string) []client.FreeSummary {
	if p.Output == show.FormatWide {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(s client.FreeSummary) bool {
		return s.FreeBlocks == "0" && strconv.Itoa(s.PrefixLength) != wanted
	})
}
