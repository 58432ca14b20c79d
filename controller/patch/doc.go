// Package patch writes only the changes to a Kubernetes object. A controller reads an object, creates a [Helper], changes the object in memory, and calls
// [Helper.Patch]. Other controllers may import it.
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
// Patch sends at most two requests: the first one has the changes to metadata and spec, the second one has the changes to the status. It does not send a
// part without changes, so an unchanged object costs no request. Patch never reads.
//
// # Concurrent writers
//
// A request is a JSON patch (RFC 6902). It tests that the UID is the same, and before each change that the field has the value that the caller has read.
// The API server applies the whole patch or nothing:
//
//   - If another writer changes another field, the patch succeeds. It does not compare the resourceVersion.
//   - If another writer changes the same field, the test fails. Patch returns a conflict (apierrors.IsConflict), and the caller reads again and decides
//     again. A decision on old values therefore never overwrites a newer one.
//   - [While] names fields that must be unchanged although the caller does not write them, because the decision depends on them.
//
// Patch compares conditions by type, owner references by UID and finalizers by value, so writers to different entries do not disturb each other. Any
// other list is one value. Patch adds a missing map or list as one value. So if two writers add the first annotation at the same time, one gets a
// conflict.
package patch
