package recipe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Stamp is what tells one build of the image from another. Everything in the image that is not source comes from here.
type Stamp struct {
	// Image is the one that is built.
	Image Image
	// Version is what the file VERSION says, as the programs report it.
	Version string
	// Commit the sources are of; empty when it is not known.
	Commit string
	// Created is the commit's time and not the build's, so that a build of tomorrow is the same.
	Created time.Time
}

// Epoch reads SOURCE_DATE_EPOCH, by which a build is told the time of its sources. Without it a file's time is 1970: a constant
// that nobody takes for news.
func Epoch(value string) (time.Time, error) {
	if value == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q: it must be seconds since 1970, as `git log -1 --format=%%ct` prints them", value)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

var notInTag = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// Tag is the version as a tag of an image may be written: no plus sign, 128 bytes at most, no dot or dash in front.
func (s Stamp) Tag() string {
	tag := strings.TrimLeft(notInTag.ReplaceAllString(s.Version, "_"), ".-")
	if tag == "" {
		return "dev"
	}
	return tag[:min(len(tag), 128)]
}

// Labels are those that registries and their users look for.
func (s Stamp) Labels() map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":         s.Image.Title,
		"org.opencontainers.image.description":   s.Image.About,
		"org.opencontainers.image.vendor":        "The Carve authors",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.url":           "https://" + Module,
		"org.opencontainers.image.source":        "https://" + Module,
		"org.opencontainers.image.documentation": "https://" + Module + "/tree/main/docs",
		"org.opencontainers.image.version":       s.Version,
		"org.opencontainers.image.created":       s.Created.UTC().Format(time.RFC3339),
	}
	if s.Commit != "" {
		labels["org.opencontainers.image.revision"] = s.Commit
	}
	return labels
}
