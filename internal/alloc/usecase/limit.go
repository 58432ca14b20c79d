package usecase

import (
	"strconv"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ProjectFull returns quota_exceeded for a project that has the maximum number of objects of a kind. No quota changes this limit.
func ProjectFull(project, noun string, limit int, remedy string) *ipam.Error {
	return Full("Project "+strconv.Quote(project), noun, limit, remedy)
}

// Full returns quota_exceeded for a holder that has the maximum number of objects of a kind.
func Full(holder, noun string, limit int, remedy string) *ipam.Error {
	e := ipam.Errorf(ipam.CodeQuotaExceeded, "%s has %s, the maximum. %s", holder, CountOf(int64(limit), noun), remedy)
	e.Figures.Limit, e.Figures.Used, e.Figures.Requested = strconv.Itoa(limit), strconv.Itoa(limit), "1"
	return e
}
