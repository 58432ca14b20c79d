// Package pins holds everything that is downloaded to build, test or ship Carve to exact versions with hashes. It has tests alone.
package pins
