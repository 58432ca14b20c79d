package crdb

import (
	"encoding/json"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// trail writes what the other changes leave behind: events, and holds that ended.
func (w *writer) trail(ch storage.Changes) {
	w.events(ch.Events)
	w.history(ch.History)
}

func (w *writer) events(list []ipam.Event) {
	n := len(list)
	if n == 0 {
		return
	}
	var (
		projects, ids                         = make([][16]byte, n), make([][16]byte, n)
		times                                 = make([]time.Time, n)
		subjects, methods, remotes, requests  = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		operations, kinds, resources, endings = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		before, after                         = make([]*string, n), make([]*string, n)
	)
	for i, e := range list {
		projects[i], ids[i], times[i] = uuid(e.ProjectID), uuid(e.ID), e.At
		subjects[i], methods[i], remotes[i], requests[i] = e.Subject, e.Method, e.Remote, e.RequestID
		operations[i], kinds[i], resources[i], endings[i] = e.Operation, e.Kind, e.Name, e.Outcome
		before[i], after[i] = rawPtr(e.Before), rawPtr(e.After)
	}
	w.hitEach("event_insert", n, 1, w.region, projects, ids, times, subjects, methods, remotes, requests, operations, kinds, resources, endings, before, after)
}

// rawPtr is JSON as it is written; nil is NULL.
func rawPtr(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}

func (w *writer) history(list []ipam.Hold) {
	n := len(list)
	if n == 0 {
		return
	}
	var (
		projects, ids, allocations  = make([][16]byte, n), make([][16]byte, n), make([][16]byte, n)
		bases                       = make([][]byte, n)
		lengths                     = make([]int16, n)
		since, until                = make([]time.Time, n), make([]time.Time, n)
		poolProjects, poolNames     = make([]string, n), make([]string, n)
		purposes, phases            = make([]string, n), make([]string, n)
		holderProjects, holderNames = make([]string, n), make([]string, n)
	)
	for i, h := range list {
		projects[i], ids[i], allocations[i] = uuid(h.ProjectID), uuid(h.ID), uuid(h.AllocationID)
		bases[i], lengths[i], since[i], until[i] = base(h.Block), plen(h.Block), h.Since, h.Until
		poolProjects[i], poolNames[i], purposes[i], phases[i] = h.Pool.Project, h.Pool.Name, string(h.Purpose), string(h.Phase)
		holderProjects[i], holderNames[i] = h.Holder.Project, h.Holder.Name
	}
	w.hitEach("history_insert", n, 1, w.region, projects, bases, lengths, until, ids, since, poolProjects, poolNames, purposes, phases, allocations, holderProjects, holderNames)
}
