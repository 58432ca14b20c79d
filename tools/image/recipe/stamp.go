package recipe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Stamp distinguishes one build of the image from another. Everything in the image that does not come from the sources comes from the stamp.
type Stamp struct {
	// Image is the image to build.
	Image Image
	// Version is the content of the file VERSION, which the programs report.
	Version string
	// Commit is the commit of the sources, or "" if it is unknown.
	Commit string
	// Created is the time of the commit. It is not the time of the build, so that a later build is identical.
	Created time.Time
}

// Epoch parses SOURCE_DATE_EPOCH, the time of the sources. Without it, files get the year 1970, which is clearly no real time.
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

// Tag returns the version as an image tag. A tag has no plus sign, no leading dot or dash, and at most 128 bytes.
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
