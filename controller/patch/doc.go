// Package patch writes only the changes to a Kubernetes object. A controller reads an object, creates a [Helper], changes the object in memory, and
// calls [Helper.Patch]. Other controllers may import it.
//
//	helper, err := patch.NewPatchHelper(claim, client)
//	...
//	claim.Status.CIDR = "10.0.0.0/28"
//	err = helper.Patch(ctx, claim)
//
// [Change] is the same in one call.
//
// # Calls
//
// Patch sends at most two requests. The first request has the changes to metadata and spec. The second request has the changes to the status. If a
// part has no changes, Patch does not send its request. Patch never reads.
//
// # Concurrent writers
//
// A request is a JSON patch (RFC 6902). It tests that the UID is the same. Before each change, it tests that the field still has the value that the
// caller has read. The API server applies the whole patch or nothing:
//
//   - If another writer changes another field, the patch succeeds. It does not compare the resourceVersion.
//   - If another writer changes the same field, the test fails. Patch returns a conflict (apierrors.IsConflict), and the caller reads again and
//     decides again. A decision on old values therefore never overwrites a newer one.
//   - [While] names a field that the caller does not write, but on which its decision depends. If another writer has changed that field, the test
//     fails.
//
// Patch compares conditions by type, owner references by UID and finalizers by value, so writers to different entries do not disturb each other.
// Patch compares any other list as one value. It also adds a missing map or list as one value. Therefore, if two writers add the first annotation at
// the same time, one of them gets a conflict.
package patch
