package recipe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Stamp distinguishes one build of the image from another. All image content that is not source comes from it.
type Stamp struct {
	// Image is the image to build.
	Image Image
	// Version is the content of the file VERSION, which the programs report.
	Version string
	// Commit of the sources; empty if unknown.
	Commit string
	// Created is the commit's time and not the build's, so that a later build is identical.
	Created time.Time
}

// Epoch parses SOURCE_DATE_EPOCH, the time of the sources. Without it, files get the time 1970: a constant that is clearly no real time.
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

// Tag returns the version as an image tag: no plus sign, 128 bytes at most, no leading dot or dash.
func (s Stamp) Tag() string {
	tag := strings.TrimLeft(notInTag.ReplaceAllString(s.Version, "_"), ".-")
	if tag == "" {
		return "dev"
	}
	return tag[:min(len(tag), 128)]
}

// Labels returns the standard labels for registries and their users.
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
