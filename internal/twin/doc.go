// Package twin switches protections of the service off, one at a time, in a build that is made to be caught: the chaos suite
// has to fail for each of them, or it proves nothing (docs/evidence.md).
//
// Without the build tag carvetwin every switch is a constant, so that the compiler leaves nothing of it in the program. With
// the tag CARVE_TWIN=<name> in the environment chooses one.
package twin
