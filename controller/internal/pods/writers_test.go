package pods_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// A second writer annotates the claim without a pause, while eight pods request it and leave it.
func TestSharedClaimListsItsPodsDespiteASecondWriter(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.run()
	vip := s.bound(s.claim("vip", ipam.IPClaimSpec{MaxConsumers: 8}))
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			text := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/beat":"%d"}}}`, i)
			_ = world.Client.Patch(ctx, &ipam.IPClaim{ObjectMeta: *vip.ObjectMeta.DeepCopy()}, client.RawPatch(types.MergePatchType, text))
		}
	})
	defer writer.Wait()
	defer stop()
	var all []*core.Pod
	for i := range 8 {
		all = append(all, s.pod(fmt.Sprint("web-", i), "node", shared))
	}
	s.users(vip.DeepCopy(), all...)
	for _, p := range all[:4] {
		s.remove(p)
	}
	s.users(vip.DeepCopy(), all[4:]...)
	for _, p := range all[4:] {
		s.remove(p)
	}
	require.NoError(t, world.Client.Delete(t.Context(), vip.DeepCopy()))
	s.vanishes(vip.DeepCopy())
	require.Empty(t, s.held())
}
