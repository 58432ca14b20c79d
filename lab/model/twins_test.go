package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The search must detect each missing protection. It must find the expected broken promise within the expected number of steps. If a twin breaks
// several promises, the search runs several times and ignores the promises that it found before.
func TestSearchDetectsEachTwin(t *testing.T) {
	t.Parallel()
	small := Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, MaxLost: 1}
	restored := Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1, Restored: both}
	three := Bounds{Size: 4, Regions: 3, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 1}
	again := Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{1, 2}, MaxAsks: 2, MaxLost: 1}
	large := Bounds{Size: 4, Regions: 2, Asks: pair, Wishes: []int{2}, MaxAsks: 1}
	fences := Bounds{Size: 4, Regions: 2, Asks: []int{0, 0}, Wishes: []int{1, 2}, MaxAsks: 2, Remembers: true}
	pools := Bounds{Size: 2, Regions: 2, Asks: pair, Wishes: []int{1}, MaxAsks: 2, Remembers: true}
	marks := Bounds{Size: 2, Regions: 2, Asks: pair, Wishes: []int{1}, MaxAsks: 1, Remembers: true, Restored: both}
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
		{"MergeThatForgetsABuddy", MergeForgetsBuddy, small, []caught{{UsableAgain, 3}, {Maximal, 5}}},
		{"LoanWithoutRecord", LendWithoutRecord, small, []caught{{RegionTiles, 1}}},
		{"RecallOfWhatIsPartlyHeld", RecallHeld, small, []caught{{Tiling, 5}, {UsableAgain, 5}, {TwoHolders, 8}}},
		{"UnknownRunAgainUnderANewKey", UnknownIsFailure, small, []caught{{OneEffect, 5}}},
		{"KeyAndNameNotUnique", NoUniqueKey, small, []caught{{OneEffect, 6}}},
		{"NoSecondLookBeforeARefusal", NoSecondLook, small, []caught{{RefusedLeft, 12}}},
		{"EpochsNotComparedAfterARestore", NoEpochCheck, restored, []caught{
			{Fenced, 4}, {Tiling, 4}, {UsableAgain, 4}, {RegionTiles, 5}, {Acknowledged, 7}, {TwoHolders, 9},
		}},
		{"HomeKeepsItsEpochInALoan", EpochOfOne, restored, []caught{{Tiling, 3}, {UsableAgain, 3}, {TwoHolders, 9}}},
		{"ReleaseByName", ReleaseByName, again, []caught{{Acknowledged, 11}}},
		{"ExhaustedWithoutAskingOtherRegions", ExhaustedAlone, three, []caught{{ExhaustedTrue, 5}}},
		{"ExhaustedByOneRegionAfterAnother", ExhaustedPiecemeal, three, []caught{{ExhaustedTrue, 9}}},
		{"ExhaustedThoughPartsWouldMakeTheBlock", ExhaustedInParts, large, []caught{{ExhaustedTrue, 6}}},
		{"RowsOfAFencedRegionBelieved", LookUnfenced, restored, []caught{{Fenced, 7}}},
		{"MarkNotCompared", NoFence, fences, []caught{{Maximal, 7}, {UsableAgain, 7}}},
		{"EpochsNotComparedBesideTheMark", FenceWithoutEpoch, marks, []caught{{Fenced, 8}}},
		{"ExhaustedByWhatIsRemembered", RefusedByMemory, fences, []caught{{ExhaustedTrue, 10}}},
		{"TransactionOfTwoPoolsByHalves", TogetherByHalves, pools, []caught{{Acknowledged, 17}}},
	} {
		t.Run(twin.name, func(t *testing.T) {
			t.Parallel()
			var seen []Promise
			for _, want := range twin.caught {
				found := Check(twin.bounds, twin.twin, seen...)
				t.Log(found)
				require.Equal(t, want, caught{found.Broken, len(found.Trace) - 1})
				seen = append(seen, found.Broken)
			}
		})
	}
	for _, bounds := range []Bounds{small, restored, three, again, large, fences, pools, marks} {
		t.Run(fmt.Sprintf("NothingIsFoundInTheSoundModel/%+v", bounds), func(t *testing.T) {
			t.Parallel()
			require.Empty(t, Check(bounds, Sound).Broken)
		})
	}
}
