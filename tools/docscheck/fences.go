package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shells lists the languages in which a page could show commands.
var shells = map[string]bool{"": true, "sh": true, "bash": true, "shell": true, "zsh": true, "text": true}

// aCommand matches a line that looks like a command.
var aCommand = regexp.MustCompile(`^\s*(?:\$ |(?:sudo )?(?:ipamctl|server|make|curl|go|git|npm|npx|helm|kubectl|docker|podman|crane|oras|cockroach|psql|openssl|export|bin/\S+|\./\S+)\s+\S)`)

// checkBlocks finds blocks that cannot be parsed. It also finds commands in blocks that are neither console blocks nor marked as norun.
func checkBlocks(all map[string]*page) []fault {
	var faults []fault
	for _, p := range sorted(all) {
		for i := range p.blocks {
			b := &p.blocks[i]
			if what := checkBlock(b); what != "" {
				faults = append(faults, fault{path: p.path, line: b.line, what: what})
			}
		}
	}
	return faults
}

func checkBlock(b *block) string {
	switch b.language {
	case "yaml", "yml":
		return checkYAML(b.text)
	case "json":
		if !json.Valid([]byte(b.text)) {
			return "the JSON cannot be read"
		}
	}
	if !shells[b.language] {
		return ""
	}
	if reason, ok := strings.CutPrefix(b.note, "norun:"); ok && strings.TrimSpace(reason) != "" {
		return ""
	}
	for line := range strings.Lines(b.text) {
		if aCommand.MatchString(line) {
			return "commands in a block that says neither ```console (they are run) nor ```console norun: reason"
		}
	}
	return ""
}

func checkYAML(text string) string {
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return ""
		} else if err != nil {
			return fmt.Sprintf("the YAML cannot be read: %v", err)
		}
	}
}
