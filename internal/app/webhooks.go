package app

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/webhook"
)

// shortestKey is the webhook key's minimum length in bytes.
const shortestKey = 32

// keyFileName is the name of the key file that the server creates in the data directory.
const keyFileName = "webhook-key"

// webhookKey reads the key from which the server derives webhook secrets. With an embedded database, it creates the key file if none exists. Without
// a key, the server sends no webhooks.
func (a *App) webhookKey(c Config) ([]byte, error) {
	name := c.WebhookKeyFile
	if name == "" && a.embedded == nil {
		return nil, nil
	}
	if name == "" {
		name = filepath.Join(c.DataDir, keyFileName)
		made := make([]byte, shortestKey)
		_, _ = rand.Read(made) // never fails
		if err := writeKey(name, hex.EncodeToString(made)); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("cannot make a key for webhooks: %w", err)
		}
	}
	key, err := os.ReadFile(name)
	if key = bytes.TrimSpace(key); err == nil && len(key) < shortestKey {
		err = fmt.Errorf("%s has %d bytes and needs %d random bytes", name, len(key), shortestKey)
	}
	if err != nil {
		return nil, fmt.Errorf("--webhook-key-file: %w", err)
	}
	return key, nil
}

// webhookNetworks parses --webhook-networks.
func (c Config) webhookNetworks() (webhook.Networks, error) {
	var out webhook.Networks
	for _, s := range c.WebhookNetworks {
		p, err := netip.ParsePrefix(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("--webhook-networks %q is not a CIDR", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

func (a *App) webhooks(c Config) (o webhooks.Options, err error) {
	if o.Networks, err = c.webhookNetworks(); err != nil {
		return o, err
	}
	o.Body = api.WebhookMessages(a.store.Now)
	o.Key, err = a.webhookKey(c)
	return o, err
}
