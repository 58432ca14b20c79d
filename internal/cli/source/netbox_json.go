package source

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
)

// netboxPage is a list page's metadata.
type netboxPage struct {
	file           string
	count, rows    int
	counted        bool
	next, previous string
}

// documents reads a file with API pages, object lists, or a dump. One file may contain several documents.
func (n *netboxReading) documents(f File) error {
	d := json.NewDecoder(f.open())
	d.UseNumber()
	for {
		found, err := n.value(d, f, "")
		switch {
		case errors.Is(err, io.EOF) && d.InputOffset() >= f.end:
			return nil
		case err != nil:
			return f.faulty(err, d.InputOffset())
		case !found:
			return fmt.Errorf("%s: it is not a list of NetBox's objects: it seems to be %s", f.Name, f.detectFormat())
		}
	}
}

// value reads the next value. It reports whether the value contains a list of objects. model is these objects' model, if it is known.
func (n *netboxReading) value(d *json.Decoder, f File, model string) (found bool, err error) {
	token, err := d.Token()
	if err != nil {
		return false, err
	}
	switch token {
	case json.Delim('['):
		_, err = n.items(d, model)
		return true, err
	case json.Delim('{'):
	default:
		return false, nil
	}
	p := &netboxPage{file: f.Name}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false, inside(err)
		}
		name, _ := key.(string)
		switch endpoint := netboxEndpoints[name]; {
		case name == "results" || name == "records":
			if token, err := d.Token(); err != nil || token != json.Delim('[') {
				return false, cmp.Or(inside(err), fmt.Errorf("%s is not a list", name))
			}
			if found {
				return false, errors.New("it has two lists of results")
			}
			found = true
			if p.rows, err = n.items(d, model); err != nil {
				return false, err
			}
			n.pages = append(n.pages, p)
		case endpoint != "" && model == "": // several lists by endpoint: {"prefixes": [...], "ip-addresses": {"results": [...]}}
			n.out.list(endpoint)
			has, err := n.value(d, f, endpoint)
			if err != nil {
				return false, inside(err)
			}
			found = found || has
		default:
			var value any
			if err := d.Decode(&value); err != nil {
				return false, inside(err)
			}
			p.note(name, value)
		}
	}
	_, err = d.Token()
	return found, inside(err)
}

// inside converts io.EOF to an error about a truncated document.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (p *netboxPage) note(name string, value any) {
	switch name {
	case "count":
		if n, err := strconv.Atoi(plain(value)); err == nil {
			p.count, p.counted = n, true
		}
	case "next":
		p.next = plain(value)
	case "previous":
		p.previous = plain(value)
	}
}

// items reads a list's objects, after its opening bracket. It returns their number.
func (n *netboxReading) items(d *json.Decoder, model string) (count int, err error) {
	for d.More() {
		var members map[string]any
		if err := d.Decode(&members); err != nil {
			return count, inside(err)
		}
		if members == nil {
			return count, fmt.Errorf("item %d is not an object", count+1)
		}
		if err := n.object(model, members); err != nil {
			return count, err
		}
		count++
	}
	_, err = d.Token()
	return count, inside(err)
}

// whole checks that no list lacks a page.
func (n *netboxReading) whole() error {
	lists := map[string][]*netboxPage{}
	var order []string
	for at, p := range n.pages {
		key := fmt.Sprint(at) // for a list with only one page
		if link := cmp.Or(p.next, p.previous); link != "" {
			key = listOf(link)
		}
		if lists[key] == nil {
			order = append(order, key)
		}
		lists[key] = append(lists[key], p)
	}
	for _, key := range order {
		if err := allPages(lists[key]); err != nil {
			return err
		}
	}
	return nil
}

// listOf returns a list's URL without the parameters that select the page.
func listOf(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return link
	}
	q := u.Query()
	for _, name := range []string{"limit", "offset", "start"} {
		q.Del(name)
	}
	return u.Path + "?" + q.Encode()
}

// allPages checks one list's pages. The list may have changed between two requests, so the last page's count applies.
func allPages(pages []*netboxPage) error {
	rows, count := 0, -1
	last := slices.IndexFunc(pages, func(p *netboxPage) bool { return p.next == "" })
	seen := map[string]bool{} // a page that was given twice counts once
	for _, p := range pages {
		if links := p.previous + " " + p.next; !seen[links] {
			seen[links] = true
			rows += p.rows
		}
		if p.counted {
			count = max(count, p.count)
		}
	}
	if last >= 0 && pages[last].counted {
		count = pages[last].count
	}
	file := pages[0].file
	remedy := "give all pages, or a response to ?limit=0 with all rows, or read NetBox with --url"
	switch first := slices.ContainsFunc(pages, func(p *netboxPage) bool { return p.previous == "" }); {
	case last < 0 && count >= 0:
		return fmt.Errorf("%s: it has %d of %d rows, and there is a next page (%s): %s", file, rows, count, pages[len(pages)-1].next, remedy)
	case last < 0:
		return fmt.Errorf("%s: there is a next page (%s): %s", file, pages[len(pages)-1].next, remedy)
	case !first:
		return fmt.Errorf("%s: there is a previous page (%s): %s", file, pages[0].previous, remedy)
	case count > rows:
		return fmt.Errorf("%s: NetBox counts %d rows, but the pages contain %d: %s", file, count, rows, remedy)
	}
	return nil
}
