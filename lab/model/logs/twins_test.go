package logs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The search must detect each missing protection. It must find the expected broken promise within the expected number of steps. If a twin breaks
// several promises, the search runs several times and ignores the promises that it found before.
func TestSearchDetectsEachTwin(t *testing.T) {
	t.Parallel()
	lost := Bounds{Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, MaxLost: 1}
	stale := Bounds{Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 2, Snapshots: true}
	pages := Bounds{Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 1, MaxLost: 1, Snapshots: true}
	names := Bounds{Size: 2, Logs: 1, Wants: pair, Names: named, MaxAsks: 2, MaxLost: 1, Sweeps: true}
	again := Bounds{Size: 2, Logs: 1, Wants: pair, Names: unnamed, MaxAsks: 2, MaxLost: 1, Sweeps: true}
	two := Bounds{Size: 2, Logs: 2, Wants: apart, Names: unnamed, MaxAsks: 1, MaxLost: 1}
	small := Bounds{Size: 1, Logs: 2, Wants: either, Names: unnamed, MaxAsks: 2}
	type caught struct {
		by    Promise
		steps int
	}
	for _, twin := range []struct {
		name   string
		twin   Twin
		bounds Bounds
		caught []caught
	}{
		{"NoCompareAndSet", NoCompareAndSet, lost, []caught{{FoldTrue, 5}, {TwoHolders, 5}}},
		{"LateCommitAfterTheCollection", AbsentKeyOnly, pages, []caught{{TwoHolders, 12}, {Tiling, 12}}},
		{"StaleServerAfterTheCollection", AbsentKeyOnly, stale, []caught{{Tiling, 14}}},
		{"SnapshotSkipsAnEntry", SnapshotSkips, pages, []caught{{SnapshotTrue, 8}}},
		{"ChangedPageNotWritten", PageNotDirty, pages, []caught{{SnapshotTrue, 6}}},
		{"RowsCollectedThatNoSnapshotCovers", CollectsUncovered, pages, []caught{{Loadable, 5}}},
		{"LastRowCollected", CollectsLast, pages, []caught{{Loadable, 1}}},
		{"TailReadAcrossAGap", TailWithGap, pages, []caught{{FoldTrue, 12}}},
		{"PageOfAnotherRoot", PageOfOtherRoot, pages, []caught{{FoldTrue, 8}}},
		{"PagesReusedOfAnOldRoot", RootNotCompared, pages, []caught{{Loadable, 14}}},
		{"OlderSnapshotReplacesANewerOne", OlderRoot, pages, []caught{{Loadable, 11}}},
		{"AbsentRowBelieved", BelievesAbsent, lost, []caught{{RefusedLeft, 7}}},
		{"TransactionForEachContainerAndOneFence", FencesHalf, two, []caught{{RefusedLeft, 9}}},
		{"FullByTheCacheAlone", RefusesUnread, again, []caught{{FullTrue, 10}}},
		{"FullByOneContainerAfterAnother", RefusesPiecemeal, small, []caught{{FullTrue, 12}}},
		{"FullWithoutASearchForTheKey", RefusesWithoutKey, lost, []caught{{RefusedLeft, 7}}},
		{"KeyAndNameReadApart", ChecksApart, names, []caught{{RefusedLeft, 10}}},
		{"KeyNotUnique", NoKeyRow, lost, []caught{{OneHold, 6}}},
		{"ReleaseByAnOldRead", ReleaseByOldRead, again, []caught{{Tiling, 14}}},
		{"ReleaseByAReadBeforeTheLoad", ReleaseOverLoad, again, []caught{{Tiling, 13}}},
		{"NameOfANewHoldSwept", SweepsByName, names, []caught{{UniqueNames, 14}}},
		{"EndSweptBeforeItsHold", SweepsEndFirst, names, []caught{{Released, 7}}},
		{"LiveHoldReplacedByItsName", ReplacesByName, names, []caught{{Acknowledged, 7}}},
	} {
		t.Run(twin.name, func(t *testing.T) {
			var seen []Promise
			for _, want := range twin.caught {
				found := Check(twin.bounds, twin.twin, seen...)
				t.Log(found)
				require.Equal(t, want, caught{found.Broken, len(found.Trace) - 1})
				seen = append(seen, found.Broken)
			}
		})
	}
}
