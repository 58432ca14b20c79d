// Package patch writes the changes of one object of Kubernetes, and nothing else. A controller reads an object, takes a [Helper], changes the object in
// memory, and calls [Helper.Patch]. Other controllers may import it.
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
// Patch sends at most two requests: the first one has the changes of metadata and spec, the second one has the changes of the status. A part without
// changes is not sent, so an unchanged object costs no request. Patch never reads.
//
// # Concurrent writers
//
// A request is a JSON patch (RFC 6902). Before each change it tests that the field has the value that was read, and that the UID is the same. The API
// server applies all of it or nothing:
//
//   - A change of another field by another writer does not matter. The resourceVersion is not compared.
//   - A change of the same field by another writer fails the test. Patch returns a conflict (apierrors.IsConflict), and the caller reads again and
//     decides again. So a decision that was made on old values is never written over a newer one.
//   - [While] names fields that must be unchanged although the caller does not write them, because the decision depends on them.
//
// Conditions are compared by type, owner references by UID and finalizers by value, so writers of different entries do not disturb each other. Any
// other list is one value. A map or list that did not exist is added as one value: two writers that add the first annotation at the same time get one
// conflict.
package patch
