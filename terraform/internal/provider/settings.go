package provider

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// settings has the provider's resolved settings. An attribute takes precedence over an environment variable. An environment variable takes precedence
// over ipamctl's context.
type settings struct {
	server, project, owner, key, caFile string
}

// ipamctlContext is one context in ipamctl's configuration file. A context names a server and how to reach it.
type ipamctlContext struct {
	Server  string `yaml:"server"`
	Project string `yaml:"project"`
	CAFile  string `yaml:"caFile"`
	APIKey  string `yaml:"apiKey"`
}

// defaultServer is the address at which `make run` starts a server.
const defaultServer = "http://127.0.0.1:8080"

// settle resolves the settings. It uses a context's credential only for that context's server.
func settle(config values, env func(string) string) (settings, error) {
	set := func(attribute string) string {
		return cmp.Or(config.text(attribute), env("CARVE_"+strings.ToUpper(attribute)))
	}
	s := settings{server: set("server"), project: set("project"), owner: set("owner"), caFile: set("ca_file")}
	var err error
	if s.key, err = key(config, env); err != nil {
		return s, err
	}
	c, err := contextNamed(set("context"), env)
	if err != nil {
		return s, err
	}
	own := c.Server != "" && (s.server == "" || same(s.server, c.Server))
	if own {
		s.key, s.caFile = cmp.Or(s.key, c.APIKey), cmp.Or(s.caFile, c.CAFile)
	}
	s.server, s.project = cmp.Or(s.server, c.Server, defaultServer), cmp.Or(s.project, c.Project)
	return s, nil
}

// key returns the credential from the attributes or the environment.
func key(config values, env func(string) string) (string, error) {
	for _, of := range []struct{ key, file, names string }{
		{config.text("api_key"), config.text("api_key_file"), "api_key and api_key_file"},
		{env("CARVE_API_KEY"), env("CARVE_API_KEY_FILE"), "CARVE_API_KEY and CARVE_API_KEY_FILE"},
	} {
		switch {
		case of.key != "" && of.file != "":
			return "", fmt.Errorf("%s are both set; set one of them", of.names)
		case of.key != "":
			return of.key, nil
		case of.file != "":
			text, err := os.ReadFile(of.file)
			return strings.TrimSpace(string(text)), err
		}
	}
	return "", nil
}

// contextNamed reads a context from ipamctl's configuration file. If the name is empty, it reads the current context.
func contextNamed(name string, env func(string) string) (c ipamctlContext, err error) {
	file := env("CARVE_CONFIG")
	if file == "" {
		dir := env("XDG_CONFIG_HOME")
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(env("HOME"), ".config")
		}
		file = filepath.Join(dir, "carve", "config.yaml")
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return c, nil
	case err != nil:
		return c, fmt.Errorf("read the contexts of ipamctl: %w", err)
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return c, fmt.Errorf("%s contains credentials, and other users can access it: run chmod 600 on it", file)
	}
	var all struct {
		Current  string                    `yaml:"current"`
		Contexts map[string]ipamctlContext `yaml:"contexts"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&all); err != nil {
		return c, fmt.Errorf("%s is not a valid ipamctl configuration", file) // the YAML reader's error would quote the file, which may contain a credential
	}
	if name == "" {
		name = all.Current
	}
	c, found := all.Contexts[name]
	if name != "" && !found {
		return c, fmt.Errorf("%s has no context %q", file, name)
	}
	return c, nil
}

// same reports whether two URLs refer to the same server.
func same(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	return err == nil && err2 == nil && u.Scheme == v.Scheme && strings.EqualFold(u.Host, v.Host) && strings.TrimRight(u.Path, "/") == strings.TrimRight(v.Path, "/")
}
