package rivals

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"os"

	"github.com/jackc/pgx/v5"
	goipam "github.com/metal-stack/go-ipam"
)

// openAcquireIP is go-ipam as a library, on its PostgreSQL storage: an address of one prefix.
func openAcquireIP(ctx context.Context, db *database, c cell) (*session, error) {
	manager, done, err := openGoIPAM(ctx, db, heldAddresses(c.held), nil)
	if err != nil {
		return nil, err
	}
	return &session{
		hand: func(ctx context.Context, _ int) (uint64, error) {
			ip, err := manager.AcquireIP(ctx, poolCIDR)
			if err != nil {
				return 0, err
			}
			return number(netip.PrefixFrom(ip.IP, addressBits), addressBits)
		},
		first: uint64(c.held) + 1, //nolint:gosec // not negative; go-ipam holds the first address of a prefix back
		close: done,
	}, nil
}

// openAcquireChild is the same with a network of one prefix.
func openAcquireChild(ctx context.Context, db *database, c cell) (*session, error) {
	parent, children := heldNetworks(c.held)
	manager, done, err := openGoIPAM(ctx, db, parent, children)
	if err != nil {
		return nil, err
	}
	return &session{
		hand: func(ctx context.Context, _ int) (uint64, error) {
			child, err := manager.AcquireChildPrefix(ctx, poolCIDR, networkBits)
			if err != nil {
				return 0, err
			}
			p, err := netip.ParsePrefix(child.Cidr)
			if err != nil {
				return 0, err
			}
			return number(p, networkBits)
		},
		first: uint64(c.held), //nolint:gosec // not negative
		close: done,
	}, nil
}

// storedPrefix is a prefix as go-ipam dumps and stores it.
type storedPrefix struct {
	Cidr                   string          `json:"Cidr"`
	ParentCidr             string          `json:"ParentCidr"`
	Namespace              string          `json:"Namespace"`
	AvailableChildPrefixes map[string]bool `json:"AvailableChildPrefixes"`
	ChildPrefixLength      int             `json:"ChildPrefixLength"`
	IsParent               bool            `json:"IsParent"`
	IPs                    map[string]bool `json:"IPs"`
	Version                int64           `json:"Version"`
}

// emptyPrefix is what go-ipam makes of a new prefix: the first and the last address are withheld.
func emptyPrefix(p netip.Prefix) storedPrefix {
	count := 1 << (addressBits - p.Bits())
	n, err := number(netip.PrefixFrom(p.Addr(), addressBits), addressBits)
	if err != nil {
		panic(err) // the caller made it of the pool
	}
	last := block(int(n)+count-1, addressBits).Addr() //nolint:gosec // within the pool
	return storedPrefix{Cidr: p.String(), AvailableChildPrefixes: map[string]bool{}, IPs: map[string]bool{p.Addr().String(): true, last.String(): true}}
}

// heldAddresses is the pool with its first n addresses held, beside the two that go-ipam withholds.
func heldAddresses(n int) storedPrefix {
	prefix := emptyPrefix(poolBlock)
	for i := range n {
		prefix.IPs[block(i+1, addressBits).Addr().String()] = true
	}
	return prefix
}

// heldNetworks is the pool with its first n networks held, and those networks.
func heldNetworks(n int) (parent storedPrefix, children []storedPrefix) {
	parent = emptyPrefix(poolBlock)
	for i := range n {
		child := emptyPrefix(block(i, networkBits))
		child.ParentCidr = poolCIDR
		children = append(children, child)
		parent.AvailableChildPrefixes[child.Cidr] = false
		parent.IsParent = true
	}
	return parent, children
}

// openGoIPAM makes a database for go-ipam: the prefix through its own Load, the children, which Load would write one by one in a
// transaction each, as rows of its table.
func openGoIPAM(ctx context.Context, db *database, prefix storedPrefix, children []storedPrefix) (goipam.Ipamer, func() error, error) {
	name, err := db.fresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	done := func() error { return db.Drop(name) } // its storage cannot be closed; this ends its sessions
	dir, port, user := db.Socket()
	// Its URL has no place for the directory of a socket; its driver looks here when the URL names no host.
	if err := os.Setenv("PGHOST", dir); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	storage, err := goipam.NewPostgresStorage("", port, user, "", name, goipam.SSLModeDisable)
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	manager := goipam.NewWithStorage(storage)
	dump, err := json.Marshal([]storedPrefix{prefix})
	if err == nil {
		err = manager.Load(ctx, string(dump))
	}
	if err == nil {
		err = storeChildren(ctx, db.DSN(name), children)
	}
	if err == nil {
		err = db.Settle(ctx, name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return manager, done, nil
}

func storeChildren(ctx context.Context, dsn string, children []storedPrefix) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"prefixes"}, []string{"cidr", "prefix"}, pgx.CopyFromSlice(len(children), func(i int) ([]any, error) {
		text, err := json.Marshal(children[i])
		return []any{children[i].Cidr, string(text)}, err
	}))
	return err
}
