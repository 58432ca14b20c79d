package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// Contexts is the context file's content. A context has a server, a project and a credential.
type Contexts struct {
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]Setting `yaml:"contexts,omitempty"`
}

// Setting is one context.
type Setting struct {
	Server  string `yaml:"server,omitempty"`
	Project string `yaml:"project,omitempty"`
	CAFile  string `yaml:"caFile,omitempty"`
	APIKey  Token  `yaml:"apiKey,omitempty"`
}

// These are the modes for the file and its directory, and the file's maximum size. Only the owner may read the file, because it contains
// credentials.
const (
	contextsMode    = 0o600
	contextsDirMode = 0o700
	largestContexts = 1 << 20
)

// contextsPath returns the file's path. It is $CARVE_CONFIG, or carve/config.yaml in the user's configuration directory. If no environment
// variable gives a path, it returns "".
func (p *Program) contextsPath() string {
	if path := p.Env("CARVE_CONFIG"); path != "" {
		return path
	}
	if dir := p.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // the XDG specification requires that relative paths are ignored
		return filepath.Join(dir, "carve", "config.yaml")
	}
	for _, name := range []string{"HOME", "USERPROFILE"} { // USERPROFILE is for Windows
		if home := p.Env(name); home != "" {
			return filepath.Join(home, ".config", "carve", "config.yaml")
		}
	}
	return ""
}

// ReadContexts reads the file. If the file does not exist, there are no contexts. If other users can read the file, it returns an error. These users
// may already know the credentials, and the owner must know about that.
func (p *Program) ReadContexts() (Contexts, error) {
	path := p.contextsPath()
	if path == "" {
		return Contexts{}, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Contexts{}, nil
	}
	if err != nil {
		return Contexts{}, exit.Usagef("cannot read the contexts: %v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return Contexts{}, exit.Usagef("cannot read the contexts: %v", err)
	case !info.Mode().IsRegular():
		return Contexts{}, exit.Usagef("cannot read the contexts: %s is not a file", path)
	case modesCount && info.Mode().Perm()&0o077 != 0:
		return Contexts{}, exit.Usagef("%s contains credentials, and other users can access it (mode %04o). Run: chmod 600 '%s'. "+
			"If this machine has other users, revoke the keys in the file and create new ones", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, largestContexts))
	if err != nil {
		return Contexts{}, exit.Usagef("cannot read the contexts: %v", err)
	}
	c, err := parseContexts(text)
	if err != nil {
		return Contexts{}, exit.Usagef("%s: %v", path, err)
	}
	return c, nil
}

// parseContexts parses the file. It refuses unknown fields, because ipamctl would lose them when it writes the file. Its errors do not contain the
// parser's text, which quotes the file.
func parseContexts(text []byte) (Contexts, error) {
	var c Contexts
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, errors.New("it is not a file of contexts, which is a mapping with `current` and `contexts`; a context has " +
			"server, project, caFile and apiKey")
	}
	for name, s := range c.Contexts {
		if !NameRE.MatchString(name) {
			return c, fmt.Errorf("%q is not the name of a context", name)
		}
		if s.Server != "" {
			if _, err := ParseServer(s.Server); err != nil {
				return c, fmt.Errorf("context %s: %w", name, err)
			}
		}
		if s.APIKey == "" {
			continue
		}
		if s.Server == "" {
			return c, fmt.Errorf("context %s has an apiKey but no server", name)
		}
		if _, err := parseToken([]byte(s.APIKey)); err != nil {
			return c, fmt.Errorf("context %s: apiKey: %w", name, err)
		}
	}
	return c, nil
}

// ChangeContexts reads, changes and writes the contexts. It holds a lock against other ipamctl processes. A reader gets either the old file or the
// new file.
func (p *Program) ChangeContexts(change func(c *Contexts) error) error {
	path := p.contextsPath()
	if path == "" {
		return exit.Usagef("no file for contexts is known: set CARVE_CONFIG to a file, or set HOME")
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace the file that the link refers to, and keep the link
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, contextsDirMode); err != nil {
		return fmt.Errorf("cannot write the contexts: %w", err)
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return fmt.Errorf("cannot write the contexts: %w", err)
	}
	defer unlock()
	c, err := p.ReadContexts()
	if err != nil {
		return err
	}
	if c.Contexts == nil {
		c.Contexts = map[string]Setting{}
	}
	if err := change(&c); err != nil {
		return err
	}
	if err := c.write(path); err != nil {
		return fmt.Errorf("cannot write the contexts: %w", err)
	}
	return nil
}

// write writes the contexts to a new file that only the owner can read. It then renames that file over the old file.
func (c Contexts) write(path string) (err error) {
	text, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(contextsMode); err != nil { // sets the exact mode, whatever the umask is
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
